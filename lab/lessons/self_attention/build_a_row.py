"""Build a row: one token’s query, keys and values become its weights and its context, in four computations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.heads.attention import attention_map, attention_row, heaviest, window
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.strips import strips
from lab.charts.components.row_built import RowBuilt
from lab.course.pages import bench_of
from lab.course.words import VISIBLE, named, signed, told_apart, unmarked
from lab.figures.attention import place
from lab.lessons.self_attention import LESSON
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.toy.models import CONSTRUCTED, query_key_product
from lab.ui.components import mount
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import try_this, way_to
from lab.ui.parameters import TOKEN
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

# The most rows of the figure: more rows make a page long.
ROWS = 16
# The number of dimensions drawn at first in the figure of all queries, keys or values, and the most tokens in it.
PROJECTED, PROJECTED_TOKENS = 48, 32
_SEEN = 0.15  # the smallest weight that a reader sees in the arcs
_LARGE = 0.2  # the smallest weight that a question calls large

Projection = Literal["query", "key", "value"]
_PLURAL: Mapping[Projection, str] = {"query": "Queries", "key": "Keys", "value": "Values"}


def said(spot: Spot) -> tuple[str, str, str, str]:
    """Write a sentence for each stage of a row: its scores, the division, its weights, and the vector that arrives."""
    return largest_score(spot), divided(spot), built(spot), brought(spot)


def largest_score(spot: Spot) -> str:
    """Say which key fits the query best, among the keys that the query may see."""
    trace, row = spot.trace, spot.row
    scores = np.where(np.isfinite(row.scaled), row.scores, -np.inf)
    best = int(scores.argmax())
    return (
        f"A query and a key have {len(row.query)} numbers each. Multiply them pairwise and add up the products: this "
        f"gives the score. The largest one, {signed(float(scores[best]))}, belongs to {named(trace, best)}."
    )


def divided(spot: Spot) -> str:
    """Describe the division, if the model divides; another step shows the purpose of the division."""
    config = spot.trace.model.config
    d_k = config.head_width
    if not config.scaled_scores:
        return "This model leaves the scores as they are."
    return (
        f"√{d_k} ≈ {d_k**0.5:.2f}, because a query has {d_k} numbers. The order of the scores stays the same; the step "
        "“Why divide” shows the reason for the division."
    )


def built(spot: Spot) -> str:
    """Say how a lead in the scores becomes a lead in the weights: e to the difference."""
    trace, row = spot.trace, spot.row
    order = [int(key) for key in np.argsort(-row.weights, kind="stable")]
    if len(order) == 1 or not np.isfinite(row.scaled[order[1]]):
        return "There is only one score, so softmax gives it everything: the weight 1.00."
    first, second = order[:2]
    lead = float(row.scaled[first]) - float(row.scaled[second])
    if lead < VISIBLE:
        return (
            f"No score leads: {named(trace, first)} and {named(trace, second)} have about the same score, so they get "
            f"about the same weight, {row.weights[first]:.2f} and {row.weights[second]:.2f}."
        )
    ratio = math.exp(lead)
    times = f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"
    after = "After the division, the" if trace.model.config.scaled_scores else "The"
    return (
        f"{after} score of {named(trace, first)} is {lead:.2f} larger than the score of {named(trace, second)}. "
        f"**Softmax** turns this lead into a ratio, e to the power of {lead:.2f}: the weight is **{times}** times as "
        "large."
    )


def brought(spot: Spot) -> str:
    """Name the value that is most like the weighted sum, and say whether its token has the largest weight."""
    trace, row = spot.trace, spot.row
    heaviest = int(row.weights.argmax())
    like = np.asarray([_cosine(row.context, value) for value in row.values])
    seen = np.isfinite(row.scaled)
    nearest = int(np.where(seen, like, -2.0).argmax())
    what = "The sum, the **context**, is most like the value of"
    told = f"{what} {named(trace, nearest)}: cosine {signed(like[nearest])}."
    if nearest != heaviest:
        return (
            f"{told} But the largest weight, {row.weights[heaviest]:.2f}, belongs to {named(trace, heaviest)}. A "
            "weight does not say how long a value is, or in which direction it points."
        )
    lengths = np.linalg.norm(row.weighted_values, axis=-1)
    part = lengths / lengths.sum() if lengths.any() else lengths
    short = int(np.where(part < row.weights / 2, row.weights, 0).argmax())
    if row.weights[short] < _SEEN or part[short] >= row.weights[short] / 2:
        return f"{told} This token also has the largest weight, {row.weights[heaviest]:.2f}."
    return (
        f"{told} {named(trace, short)} has the weight {row.weights[short]:.2f}, but its value is short: it brings only "
        f"{part[short]:.0%} of all that is added up."
    )


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def sharpest_word(spot: Spot) -> int | None:
    """The word whose row has the largest weight, among words that see several keys; None if there is no such word."""
    trace, weights = spot.trace, attention_map(spot.traced, spot.head)
    words = [
        at
        for at, special in enumerate(trace.encoding.special)
        if not special and np.isfinite(replace(spot, query=at).row.scaled).sum() > 1
    ]
    return max(words, key=lambda at: float(weights[at].max()), default=None)


@asks(
    "layer",
    "head",
    "token",
    basis=derivable(LESSON, "build-a-row", "the four stages of the row"),
    hint="Which of query, key and value are the weights made of?",
    returns=3,
)
def value_gone(spot: Spot) -> Question | None:
    """Ask what changes if the value with the most attention becomes 0; the weights stay, as they need no values."""
    trace, query, row = spot.trace, spot.query, spot.row
    at = int(row.weights.argmax())
    weight, length = float(row.weights[at]), float(np.linalg.norm(row.weighted_values[at]))
    if at == query or weight < _LARGE or length < MARGIN:
        return None
    key = told_apart(trace, at)
    why = (
        f"The weight is made from the query of {told_apart(trace, query)} and the key of {key}, and neither has "
        "changed. But from there, the head collects only zeros."
    )
    outcomes = {
        "The weight stays the same, but other numbers arrive": True,
        "The weight becomes 0": False,
        "Nothing: only the weight matters": False,
    }
    prompt = (
        f"{told_apart(trace, query)} gives {key} the weight {weight:.2f}. Now all numbers of the value of {key} "
        "become 0. What happens in this layer?"
    )
    return which_holds("value-gone", prompt, why, outcomes, mixed=True)


@asks(
    "layer",
    "head",
    "token",
    basis=derivable(LESSON, "build-a-row", "the softmax of the row"),
    hint="What do all weights of a row add up to?",
    returns=4,
)
def one_score_up(spot: Spot) -> Question | None:
    """Ask what happens to the other weights if one score grows: all add up to 1, so the others shrink."""
    trace, query, row = spot.trace, spot.query, spot.row
    seen = [int(i) for i in np.argsort(-row.weights) if np.isfinite(row.scaled[i]) and i != query]
    if len(seen) < 3:
        return None
    raised, most = seen[-1], seen[0]
    if row.weights[most] < MARGIN:
        return None
    why = "All weights of a row add up to 1. If one weight grows, the others must shrink."
    outcomes = {
        "It gets smaller": True,
        "It stays the same: its own score did not change": False,
        "It gets larger": False,
    }
    prompt = (
        f"{told_apart(trace, query)} looks at all words. The score of {named(trace, raised)} grows, and all other "
        f"scores stay the same. What happens to the weight of {named(trace, most)}?"
    )
    return which_holds("one-score-up", prompt, why, outcomes, mixed=True)


@asks(
    "layer",
    "head",
    "token",
    basis=bet("The model uses the word at which a head looks most.", "It may collect something and then ignore it."),
    hint="What does the head do with a weight, once it has it?",
)
def what_a_weight_says(spot: Spot) -> Question | None:
    """Ask what a large weight makes certain: a head may collect something that the model then ignores."""
    trace, query, row = spot.trace, spot.query, spot.row
    at = int(row.weights.argmax())
    weight = float(row.weights[at])
    if at == query or weight < _LARGE or trace.encoding.special[at]:
        return None
    me, key = told_apart(trace, query), told_apart(trace, at)
    why = "A weight says how much of a value is collected. Whether the model uses it is another question (lesson 6)."
    outcomes = {
        f"The value of {key} goes into the sum with the factor {weight:.2f}": True,
        f"The model knows that {me} and {key} belong together": False,
        f"Without {key}, the model would say something else about {me}": False,
    }
    prompt = f"In this head, {me} gives {key} the weight {weight:.2f}. What is certain?"
    return which_holds("what-a-weight-says", prompt, why, outcomes, mixed=True)


def row_built(traced: Trace, layer: int, head: int, query: int, key: int) -> RowBuilt:
    """Draw one query's row, built stage by stage; in a long text, only with its heaviest keys."""
    row, n = attention_row(traced.layer(layer), head, query), len(traced)
    seen = heaviest(row.weights, key, min(n, ROWS))
    return RowBuilt(
        traced.labels[query],
        [traced.labels[i] for i in seen],
        row.scores[seen],
        row.weights[seen],
        np.isneginf(row.scaled[seen]),
        float(row.weights.sum(dtype=np.float64)),
        row.values[seen],
        row.context,
        rest=n - len(seen),
        scaled=traced.model.config.scaled_scores,
    )


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
    """Show the whole row, stage by stage."""
    show_sentence(view)
    say(
        f"How does {view.token(view.query)} decide? It makes a **query** from its vector: what it looks for. Every "
        "word makes a **key**, what it offers, and a **value**, what it passes on. To get one of their numbers, each "
        "number of the vector is multiplied by a learned number, and the products are added up. Four short "
        "computations follow. Go through these steps one by one, or press Play."
    )
    figure = row_built(view.trace, view.layer.index, view.head, view.query, view.key)
    mount("row_built", replace(figure, means=tuple(map(unmarked, said(view.spot)))).payload(), "row-built")
    sharpest = sharpest_word(view.spot)
    if sharpest not in (None, view.query):
        why = f"{view.token(sharpest)} looks at one token more than any other word does. Build its row."
        try_this(why, f"Look from {view.trace.labels[sharpest]}", {TOKEN: sharpest + 1})
    _show_projections(view)
    way_to("On the bench", bench_of("neuron-view"))
    code(forward.project_qkv, forward.mix_values, forward.self_attention)


def _show_projections(view: OneHead) -> None:
    """Draw, folded, how queries, keys and values are made, and the maps of all tokens' vectors."""
    label = "Where do query, key and value come from?"
    with st.expander(label, icon=":material/grid_on:", on_change="rerun", key="_projections") as folded:
        if folded.open:
            _show_how_they_are_made(view)
            _show_vectors(view)
            _show_formula(view)


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
            "$R$ **turns** the query and the key by the position of their token; the value stays as it is. Lesson 2 "
            "shows how, in its step **Rotary**."
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
    scores = r"\frac{QK^\top}{\sqrt{d_k}}" + r" + M" * masked
    say("The four computations of a head, for all tokens at once (Vaswani et al. 2017, eq. 1):")
    attended = rf"\text{{softmax}}\left({scores}\right) V"
    st.latex(rf"\begin{{aligned}} & \text{{Attention}}(Q, K, V) \\ & = {attended} \end{{aligned}}")  # fits a phone
    st.caption(
        "M is the mask: −∞ where a query must not look, otherwise 0. "
        * masked
        + "Without the division by √d_k, the scores could be so large that softmax hardly reacts to them (its gradient "
        "is nearly 0), and the model would learn slowly (§3.2.1)."
    )


def _show_construction(view: OneHead) -> None:
    """Explain a hand-written head by W_Q·W_Kᵀ, which has one number per pair of meanings."""
    product = query_key_product(view.trace.model, view.head)
    meant = [label for label in product.index if label.startswith(("token", "position"))]
    axes = Axis("In the query’s token", meant, 1), Axis("In the key’s token", meant, 1)
    title, values = f"Scores of meanings: W_Q·W_Kᵀ, {view.place}", product.loc[meant, meant].to_numpy()
    draw(heatmap(values, axes, Scale("Score", signed=True), title=title), "query-key-product")
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
