"""All rows at once: the queries, keys and values of all tokens as matrices, and the mask."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.heads.one_row import window
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.product import Matrix, product
from lab.course.words import signed, spoken
from lab.figures.trace_axes import WEIGHT
from lab.lessons.self_attention import LESSON
from lab.models import forward
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, derivable, shuffled
from lab.toy.models import CONSTRUCTED, query_key_product
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import meaning, say
from lab.ui.shared.one_head import OneHead, show_sentence

# The most rows and columns of a matrix that are drawn.
TOKENS, DIMENSIONS = 24, 32
_NUMBER, _SCORE = Scale("Number", format=".2f", signed=True), Scale("Score", format=".1f", signed=True)

IDEA = """
**Build a row** made the row of one token. Write the queries of all {n} tokens below one another, and you have a
**matrix** Q; the keys make K, and the values make V. Two products of matrices, with softmax between them, then do it
all: Q times Kᵀ (K turned, so that each key is a column) gives all scores, and the weights times V are what all tokens
collect."""
READING = """
The outlined score, {score}, is the outlined row of Q times the outlined column of Kᵀ: the query of {query} and the
key of {key}. One product gives all {n} × {n} = {cells:,} scores, and no row has to wait for another."""
MASK = "M is the **mask** between tokens (not [MASK], which hides a word). "
OPEN = "Here, it is 0: BERT lets every token look at all others. A model that writes, such as GPT-2, does not."
CAUSAL = "It is −∞ for tokens that come later, so that softmax gives them 0: this model learns to predict them."
LOCAL = "It is −∞ for tokens that are more than {window} tokens away, so that softmax gives them 0."


def show(view: OneHead) -> None:
    """Show the head as products of matrices, ask how the map grows, and write the head as a formula."""
    n, d_k = len(view.trace), view.trace.model.config.head_width
    show_sentence(view, arcs=False)
    say(IDEA.format(n=n))
    left, right = st.columns(2)
    with left:
        draw(view.figure(scores), "all-scores")
    with right:
        draw(view.figure(contexts), "all-contexts")
    if n > TOKENS or d_k > DIMENSIONS:
        st.caption(f"The figure shows at most {TOKENS} tokens and {DIMENSIONS} dimensions, around the chosen pair.")
    meaning(reading(view.spot))
    if not predict(LESSON, twice_as_long()):
        return
    _show_formula(view)
    if view.trace.model.id == CONSTRUCTED:
        _show_construction(view)
    code(forward.project_qkv, forward.mix_values, forward.self_attention)


def _show_formula(view: OneHead) -> None:
    """Write the head as one formula, with its mask, and say what a mask is for."""
    config = view.trace.model.config
    divided = r"\frac{QK^\top}{\sqrt{d_k}}" if config.scaled_scores else r"QK^\top"
    say(
        "So the whole head is one formula (Vaswani et al. 2017, eq. 1, with the mask of §3.2.3). Here, $d_k$ is "
        f"{config.head_width}:"
    )
    attended = rf"\text{{softmax}}\left({divided} + M\right) V"
    st.latex(rf"\begin{{aligned}} & \text{{Attention}}(Q, K, V) \\ & = {attended} \end{{aligned}}")  # fits a phone
    say(MASK + hidden(config.causal, view.layer.weights.window))


def _show_construction(view: OneHead) -> None:
    """Explain a hand-written head by W_Q·W_Kᵀ, which has one number per pair of meanings."""
    draw(partial(scores_of_meanings, view.trace.model, view.head, view.place), "query-key-product")
    say(
        "Each dimension of this toy means one thing: a letter, or a position (counted from 0). A strong colour is a "
        "large score: the query’s token has the meaning of the row, and the key’s token has the meaning of the column."
    )


def reading(spot: Spot) -> str:
    """State the outlined score, and the number of scores that come with it."""
    n = len(spot.trace)
    return READING.format(
        score=signed(float(spot.row.scores[spot.key])),
        query=spoken(spot.trace, spot.query),
        key=spoken(spot.trace, spot.key),
        n=n,
        cells=n * n,
    )


@asks(
    basis=derivable(LESSON, "all-rows", "the shape of the map, n × n"),
    hint="How many rows does the map of the longer text have? How long is each row?",
)
def twice_as_long() -> Question:
    """Ask by how much the map of scores grows with the text: both of its sides are the tokens."""
    return shuffled(
        "twice-as-long",
        "For 9 tokens, a head computes 81 scores. How many does it compute for 18 tokens?",
        (
            Option(
                "324",
                "18 × 18 = 324. Both sides of the map are the tokens, which is why long texts are expensive.",
                correct=True,
            ),
            Option(
                "162",
                "There are twice as many rows, but each row is twice as long, too: it has a score for each token.",
            ),
            Option("81", "W_Q, W_K and W_V keep their sizes, but Q and K get a row for each token."),
        ),
    )


def scores(traced: Trace, layer: int, head: int, query: int, key: int) -> Figure:
    """Draw Q, Kᵀ and their product, the scores; the row of ``query`` and the column of ``key`` are outlined."""
    inside, (rows, columns) = traced.layer(layer), _drawn(traced, query, key)
    n, d_k = len(traced), inside.query.shape[-1]
    parts = (
        Matrix("Q", f"{n} × {d_k}", inside.query[head, rows, :DIMENSIONS].numpy(), _NUMBER),
        Matrix("Kᵀ", f"{d_k} × {n}", inside.key[head, columns, :DIMENSIONS].T.numpy(), _NUMBER),
        Matrix("QKᵀ", f"{n} × {n}", inside.scores[head, rows, columns].numpy(), _SCORE),
    )
    labels, chosen = (traced.labels[rows], traced.labels[columns]), (query - rows.start, key - columns.start)
    return product(parts, labels, chosen, title="Q times Kᵀ: all scores")


def contexts(traced: Trace, layer: int, head: int, query: int, key: int) -> Figure:
    """Draw the weights, V and their product, the contexts; the row of ``query`` is outlined, and dimension 1."""
    inside, (rows, columns) = traced.layer(layer), _drawn(traced, query, key)
    n, d_k = len(traced), inside.query.shape[-1]
    parts = (
        Matrix("weights", f"{n} × {n}", inside.attention[head, rows, columns].numpy(), WEIGHT),
        Matrix("V", f"{n} × {d_k}", inside.value[head, columns, :DIMENSIONS].numpy(), _NUMBER),
        Matrix("contexts", f"{n} × {d_k}", inside.context[head, rows, :DIMENSIONS].numpy(), _NUMBER),
    )
    dimensions = [f"dimension {i + 1}" for i in range(min(d_k, DIMENSIONS))]
    return product(
        parts, (traced.labels[rows], dimensions), (query - rows.start, 0), title="Weights times V: all contexts"
    )


def _drawn(traced: Trace, query: int, key: int) -> tuple[slice, slice]:
    """The queries and the keys that are drawn: all of a short text; in a long text, those around the pair."""
    return window(query, len(traced), TOKENS), window(key, len(traced), TOKENS)


def hidden(causal: bool, window: int | None) -> str:
    """Say which tokens the mask of a layer hides; ``window`` is how far a token looks in a local layer."""
    if causal:
        return CAUSAL
    return OPEN if window is None else LOCAL.format(window=window)


def scores_of_meanings(model: LoadedModel, head: int, of: str) -> Heatmap:
    """Draw W_Q·W_Kᵀ of a hand-written head, without the rows of dimensions that mean nothing; ``of`` names the head."""
    product = query_key_product(model, head)
    meant = [label for label in product.index if label.startswith(("token", "position"))]
    axes = Axis("In the query’s token", meant, 1), Axis("In the key’s token", meant, 1)
    values, title = product.loc[meant, meant].to_numpy(), f"Scores of meanings: W_Q·W_Kᵀ, {of}"
    return heatmap(values, axes, Scale("Score", signed=True), title=title)
