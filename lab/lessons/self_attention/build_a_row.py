"""Build a row: one token’s query, keys and values become its weights and its context, in four computations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.attention import attention_map, attention_row, heaviest
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
from lab.ui.components import mount
from lab.ui.drawing import code, framed, show_numbers
from lab.ui.frame.closing import try_this, way_to
from lab.ui.parameters import TOKEN
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

# The most rows of the figure: more rows make a page long.
ROWS = 16
_SEEN = 0.15  # the smallest weight that a reader sees in the arcs
_LARGE = 0.2  # the smallest weight that a question calls large


def said(spot: Spot) -> tuple[str, str, str, str]:
    """Write a sentence for each stage of a row: its scores, the division, its weights, and the vector that arrives."""
    return largest_score(spot), divided(spot), built(spot), brought(spot)


def largest_score(spot: Spot) -> str:
    """Say which key fits the query best, among the keys that the query may see."""
    trace, row = spot.trace, spot.row
    scores = np.where(np.isfinite(row.scaled), row.scores, -np.inf)
    best = int(scores.argmax())
    return (
        f"A score is the dot product of the query and a key: multiply their {len(row.query)} numbers pairwise, and "
        f"add up the products. The largest score, {signed(float(scores[best]))}, belongs to {named(trace, best)}."
    )


def divided(spot: Spot) -> str:
    """Describe the division, if the model divides."""
    config = spot.trace.model.config
    d_k = config.head_width
    if not config.scaled_scores:
        return "This model leaves the scores as they are."
    return (
        f"√{d_k} ≈ {d_k**0.5:.2f}, because a query has {d_k} numbers here. In “By hand”, it had two, so it was √2. The "
        "order of the scores stays the same."
    )


def built(spot: Spot) -> str:
    """Say how a lead in the scores becomes a lead in the weights: e to the difference."""
    trace, row = spot.trace, spot.row
    order = [int(key) for key in np.argsort(-row.weights, kind="stable")]
    if len(order) == 1 or not np.isfinite(row.scaled[order[1]]):
        return "There is only one score, so softmax gives it the whole weight, 1.00."
    first, second = order[:2]
    lead = float(row.scaled[first]) - float(row.scaled[second])
    if lead < VISIBLE:
        return (
            f"No score leads: {named(trace, first)} and {named(trace, second)} have about the same score, so they get "
            f"about the same weight, {row.weights[first]:.2f} and {row.weights[second]:.2f}."
        )
    ratio = math.exp(lead)
    times = f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"
    after = "After the division, the" if trace.model.config.scaled_scores else "The"
    return (
        f"{after} score of {named(trace, first)} is {lead:.2f} larger than the score of {named(trace, second)}. "
        f"**Softmax** turns this lead into a ratio, e to the power of {lead:.2f}: the weight is about **{times}** "
        "times as large."
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
            "weight does not say how long a value is, or in which direction the value points."
        )
    lengths = np.linalg.norm(row.weighted_values, axis=-1)
    part = lengths / lengths.sum() if lengths.any() else lengths
    short = int(np.where(part < row.weights / 2, row.weights, 0).argmax())
    if row.weights[short] < _SEEN or part[short] >= row.weights[short] / 2:
        return f"{told} This token also has the largest weight, {row.weights[heaviest]:.2f}."
    most = int(part.argmax())
    of, longer = (float(np.linalg.norm(row.values[at])) for at in (short, most))
    beside = f", and the value of {named(trace, most)} has {longer:.2f}" if longer > of else ""
    return (
        f"{told} {named(trace, short)} has the weight {row.weights[short]:.2f}, but its value is a short vector, of "
        f"the length {of:.2f}{beside}. So it brings little, and its cells are pale."
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
    hint="To which number do all weights of a row add up?",
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
        f"{told_apart(trace, query)} looks at all words. The score of {named(trace, raised)} grows, while all other "
        f"scores stay the same. What happens to the weight of {named(trace, most)}?"
    )
    return which_holds("one-score-up", prompt, why, outcomes, mixed=True)


@asks(
    "layer",
    "head",
    "token",
    basis=bet(
        "The model uses the word at which a head looks most.", "The model may collect something and then ignore it."
    ),
    hint="What does the head do with a weight?",
)
def what_a_weight_says(spot: Spot) -> Question | None:
    """Ask what a large weight makes certain: a head may collect something that the model then ignores."""
    trace, query, row = spot.trace, spot.query, spot.row
    at = int(row.weights.argmax())
    weight = float(row.weights[at])
    if at == query or weight < _LARGE or trace.encoding.special[at]:
        return None
    me, key = told_apart(trace, query), told_apart(trace, at)
    why = (
        "A weight says how much of a value is collected. Whether the model uses this value is another question "
        "(lesson 6)."
    )
    outcomes = {
        f"The value of {key} goes into the sum with the factor {weight:.2f}": True,
        f"The model knows that {me} and {key} belong together": False,
        f"Without {key}, the model would say something else about {me}": False,
    }
    prompt = f"In this head, {me} gives {key} the weight {weight:.2f}. What is certain?"
    return which_holds("what-a-weight-says", prompt, why, outcomes, mixed=True)


def _most(view: OneHead, query: int) -> float:
    """The largest weight that a token gives."""
    return float(attention_map(view.layer, view.head)[query].max())


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
        place=place(layer, head),
    )


def show(view: OneHead) -> None:
    """Show the whole row, stage by stage."""
    show_sentence(view)
    config = view.trace.model.config
    bias = ", plus learned numbers *b*" if config.biases else ""
    say(
        f"How does {view.token(view.query)} decide? Its vector *x*, as the layers before have left it, has "
        f"{config.width:,} numbers. Times a learned **matrix** W_Q{bias}, they become {config.head_width} numbers, its "
        "**query**: what it looks for. Two more matrices, W_K and W_V, turn every token’s vector into a **key** (what "
        "it offers) and a **value** (what it passes on). You know the next four computations from **By hand**. Go "
        "through them one by one, or press Play."
    )
    call = view.figure(row_built)
    figure = replace(call(), means=tuple(map(unmarked, said(view.spot))))
    with framed("row-built"):
        mount("row_built", figure.payload(), "row-built", heading=figure.heading)
        show_numbers(figure.table, "row-built", call, figure)
    sharpest = sharpest_word(view.spot)
    if sharpest not in (None, view.query):
        why = (
            f"{view.token(sharpest)} gives one token the weight {_most(view, sharpest):.2f}. Which one? Build its row."
        )
        try_this(why, f"Look from {view.trace.labels[sharpest]}", {TOKEN: sharpest + 1})
    way_to("On the bench", bench_of("neuron-view"))
    code(forward.project_qkv, forward.attend, forward.mix_values)
