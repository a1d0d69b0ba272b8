"""All rows at once: the queries, keys and values of all tokens as matrices, and the time that this saves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, get_args

import streamlit as st

from lab.analysis.heads.attention import window
from lab.analysis.layers.in_turn import REPEATS, Times, Timing, measure, timing
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.product import Matrix, product
from lab.charts.cells.strips import strips
from lab.charts.marks.bars import bars
from lab.course.words import signed, told_apart
from lab.figures.attention import place
from lab.figures.axes import WEIGHT
from lab.lessons.self_attention import LESSON
from lab.models import forward
from lab.models.batches import ProgressFunction
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import Option, Question, shuffled
from lab.questions.returning import Spot
from lab.toy.models import CONSTRUCTED, query_key_product
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.long_work import offer, serial_of
from lab.ui.parameters import MAX_CHARACTERS, MODE, TEXT, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

# The most rows and columns of a matrix that are drawn.
TOKENS, DIMENSIONS = 24, 32
# The number of dimensions drawn at first in the folded figure of all queries, keys or values, and its most tokens.
PROJECTED, PROJECTED_TOKENS = 48, 32

Projection = Literal["query", "key", "value"]
_PLURAL: Mapping[Projection, str] = {"query": "Queries", "key": "Keys", "value": "Values"}
_NUMBER, _SCORE = Scale("Number", format=".2f", signed=True), Scale("Score", format=".1f", signed=True)


def said(spot: Spot) -> str:
    """State the outlined score, and the number of scores that come with it."""
    of, n = spot.trace, len(spot.trace)
    me, other = told_apart(of, spot.query), told_apart(of, spot.key)
    score = signed(float(spot.row.scores[spot.key]))
    return (
        "In the map of scores, the outlined cell is the dot product of the outlined row of Q and the outlined column "
        f"of Kᵀ. It is {score}, the score of the query of {me} and the key of {other}. One product of matrices gives "
        f"all {n} × {n} = {n * n:,} scores of this head."
    )


def told(found: Times, layer: int) -> str:
    """Compare the two times, and say that the numbers are the same."""
    return (
        f"The attention of layer {layer + 1} takes **{found.at_once:.2f} ms** for all tokens at once, and "
        f"**{found.in_turn:.2f} ms** for one token after the other. This is {found.ratio:.1f} times as long. Both "
        "ways give the same numbers."
    )


@asks(
    basis=derivable(LESSON, "all-rows", "the shape of the map, n × n"),
    hint="How many rows does the map of the longer text have? How long is each row?",
)
def twice_as_long(spot: Spot) -> Question | None:
    """Ask by how much the map of scores grows with the text: both of its sides are the tokens."""
    why = "With twice as many tokens, the map has twice as many rows, and each row has twice as many cells."
    options = (
        Option("Four times as many", f"{why} This is why a long text is expensive.", correct=True),
        Option("Twice as many", f"{why} So it has four times as many cells."),
        Option(
            "The same number: W_Q, W_K and W_V keep their sizes",
            f"The learned matrices do keep their sizes, but Q and K get a row for each token. {why}",
        ),
    )
    n = len(spot.trace)
    prompt = (
        f"This text has {n} tokens. A text that is twice as long has {2 * n}. How many scores does the head compute "
        "for it?"
    )
    return shuffled("twice-as-long", prompt, options)


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


def projections(
    traced: Trace, layer: int, head: int, of: Projection, token: int = 0, dimensions: int = PROJECTED
) -> Heatmap:
    """Draw the queries, keys or values of all tokens in ``head``, one per row; in a long text, those around ``token``.

    The head's first ``dimensions`` are drawn.
    """
    vectors = getattr(traced.layer(layer), of)[head].numpy()
    rows, width = window(token, len(traced), PROJECTED_TOKENS), vectors.shape[1]
    count = min(dimensions, width)
    title = f"{_PLURAL[of]}, {place(layer, head)}, dimensions 1 to {count} of {width}"
    return strips(vectors[rows, :count], traced.labels[rows], title=title)


def show(view: OneHead) -> None:
    """Show the head as products of matrices, ask how the map grows, and compare the time with row after row."""
    n, d_k = len(view.trace), view.trace.model.config.head_width
    say(
        f"**Build a row** made the row of one token. All {n} tokens need a row. So write their queries below one "
        f"another. This gives a **matrix** Q with {n} rows and {d_k} columns. The keys make K, and the values make V. "
        "Two products of matrices then do everything. Q times Kᵀ gives all scores. The division and softmax turn "
        "them into weights, and the weights times V are the vectors that all tokens collect."
    )
    show_sentence(view)
    left, right = st.columns(2)
    with left:
        draw(view.figure(scores), "all-scores")
    with right:
        draw(view.figure(contexts), "all-contexts")
    if n > TOKENS or d_k > DIMENSIONS:
        st.caption(f"The figure shows at most {TOKENS} tokens and {DIMENSIONS} dimensions, around the chosen pair.")
    meaning(said(view.spot))
    if not predict(LESSON, twice_as_long(view.spot)):
        return
    _show_formula(view)
    _show_times(view)
    text = view.page.selection[TEXT]
    if view.page.selection[MODE] != TOY and 2 * len(text) < MAX_CHARACTERS:
        try_this("write the text twice, and measure again.", "The text twice", {TEXT: f"{text} {text}"})
    _show_projections(view)
    code(forward.project_qkv, forward.mix_values, forward.self_attention)


def _show_times(view: OneHead) -> None:
    """Offer to measure both ways, and show the times once they are measured."""
    layer = view.layer.index
    found = timing(view.trace, layer)
    say(
        "No row needs another row, so all of them can be computed **in parallel**, at the same time. Older networks "
        "(RNNs) read one word after the other, because each step needs the result of the step before."
    )
    if found.found is None:
        offer(("rows in turn", serial_of(found)), "Measure both ways", partial(_measure, found, view.trace, layer))
        return
    times = [found.found.at_once, found.found.in_turn]
    title = f"Time for the attention of layer {layer + 1}"
    draw(bars(["all at once", "one after the other"], times, Scale("Milliseconds", format=".2f"), title=title), "times")
    say(told(found.found, layer))
    st.caption(
        f"The lab has just measured this on one core of this server: each time is the shortest of {REPEATS} runs. "
        "Another computer has other times. Real programs also compute many texts at once, so their arrays are batch "
        "× n × d. A model that writes, such as GPT-2, reads a text in parallel, too, but it writes one token after "
        "the other, because each new token needs the one before."
    )


def _measure(found: Timing, traced: Trace, layer: int, tell: ProgressFunction) -> None:
    found.found = measure(traced, layer, tell)


def _show_projections(view: OneHead) -> None:
    """Draw, folded, how Q, K and V are made, and the maps of all tokens' vectors."""
    label = "How Q, K and V are made, and all their numbers"
    with st.expander(label, icon=":material/grid_on:", on_change="rerun", key="_projections") as folded:
        if folded.open:
            _show_how_they_are_made(view)
            _show_vectors(view)


def _show_how_they_are_made(view: OneHead) -> None:
    """Show how the vector of each token becomes three vectors."""
    config = view.trace.model.config
    say(
        f"Three learned matrices, $W_Q$, $W_K$ and $W_V$, make three new vectors of each token’s vector $x$. Head "
        f"{view.head + 1} gets {config.head_width} of their {config.width} numbers."
        + (" The learned vectors $b$ are added." if config.biases else "")
    )
    st.latex(_projections(view))
    if view.layer.weights.rotary is not None:
        say(
            "$R$ **turns** the query and the key by the position of their token. The value stays as it is. The step "
            "**Rotary** of lesson 2 shows how."
        )
    if view.trace.model.id == CONSTRUCTED:
        _show_construction(view)


def _projections(view: OneHead) -> str:
    """Write the formulas that make query, key and value from x in this model."""
    turn = r"R\," if view.layer.weights.rotary is not None else ""
    biased = view.trace.model.config.biases
    rows = [
        rf"{name} & = {turn if name != 'V' else ''}xW_{name}" + (f" + b_{name}" if biased else "") for name in "QKV"
    ]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _show_formula(view: OneHead) -> None:
    """Write the head as one formula, with the mask if this layer has one."""
    masked = view.trace.model.config.causal or view.layer.weights.window is not None
    divided = r"\frac{QK^\top}{\sqrt{d_k}}" if view.trace.model.config.scaled_scores else r"QK^\top"
    width = view.trace.model.config.head_width
    say(
        f"So the whole head is one formula (Vaswani et al. 2017, eq. 1). Here, $d_k$, the width of a query, is {width}:"
    )
    attended = rf"\text{{softmax}}\left({divided}{' + M' * masked}\right) V"
    st.latex(rf"\begin{{aligned}} & \text{{Attention}}(Q, K, V) \\ & = {attended} \end{{aligned}}")  # fits a phone
    if masked:
        st.caption("M is the mask. It is −∞ where a query must not look, and 0 elsewhere.")


def scores_of_meanings(model: LoadedModel, head: int, of: str) -> Heatmap:
    """Draw W_Q·W_Kᵀ of a hand-written head, without the rows of dimensions that mean nothing; ``of`` names the head."""
    product = query_key_product(model, head)
    meant = [label for label in product.index if label.startswith(("token", "position"))]
    axes = Axis("In the query’s token", meant, 1), Axis("In the key’s token", meant, 1)
    values, title = product.loc[meant, meant].to_numpy(), f"Scores of meanings: W_Q·W_Kᵀ, {of}"
    return heatmap(values, axes, Scale("Score", signed=True), title=title)


def _show_construction(view: OneHead) -> None:
    """Explain a hand-written head by W_Q·W_Kᵀ, which has one number per pair of meanings."""
    draw(partial(scores_of_meanings, view.trace.model, view.head, view.place), "query-key-product")
    say(
        "Each dimension of this toy means one thing: a letter, or a position (counted from 0). A strong colour is a "
        "large score: the query’s token has the meaning of the row, and the key’s token has the meaning of the column."
    )


def _show_vectors(view: OneHead) -> None:
    """Draw the queries, keys and values of all tokens in this head."""
    width = view.trace.model.config.head_width
    count = PROJECTED
    if width > count and st.toggle(f"All {width} dimensions of this head", key="_all_dimensions"):
        count = width
    for of in get_args(Projection):
        where = (view.trace, view.layer.index, view.head, of, view.query, count)
        draw(partial(projections, *where), f"projections-{of}")
    n, rows = len(view.trace), PROJECTED_TOKENS
    if n > rows:
        st.caption(f"The maps show {rows} of {n} tokens, around the query.")
    say(f"Each row belongs to one token. A score is the query of {view.token(view.query)} times one key.")
