"""Why divide: the largest weight of a row with and without the division of its scores by √d_k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.attention import attention_row, heaviest
from lab.analysis.heads.undivided import undivided
from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.pages import step_name
from lab.course.words import VISIBLE, named
from lab.figures.attention import BARS
from lab.figures.axes import KEY, WEIGHT
from lab.lessons.self_attention import LESSON
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import STEP
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

IDEA = """
In **Build a row**, every score was divided by a number before softmax. Why? What would softmax make of the scores as
they are?"""


@dataclass(frozen=True)
class Sharper:
    """The effect of the division by √d_k on the largest weight of one row (Vaswani et al. 2017, §3.2.1).

    Attributes
    ----------
    query, word
        The token to which the row belongs, and the token with the largest weight, in words.
    with_division, without
        The largest weight, and the weight of the same token if the scores are not divided.
    width
        d_k, the numbers in a query.
    """

    query: str
    word: str
    with_division: float
    without: float
    width: int


def sharper(spot: Spot) -> Sharper:
    """Compare the largest weight in the row of the query with and without the division, which changes no order."""
    trace, row = spot.trace, spot.row
    first = int(row.weights.argmax())
    without = float(undivided(row)[first])
    return Sharper(named(trace, spot.query), named(trace, first), float(row.weights[first]), without, len(row.query))


def said(found: Sharper) -> str:
    """State the largest weight with the division and without it."""
    it, now, then = found.word, found.with_division, found.without
    if abs(then - now) < VISIBLE:
        return f"In this row the division changes little: {it} gets {now:.2f}, and would get {then:.2f} without it."
    rest = " Little would be left for the other words." if then > 0.9 else ""
    return f"{it} gets {now:.2f}. Without the division it would get **{then:.2f}**.{rest}"


@asks(
    "layer",
    "head",
    "token",
    basis=derivable(LESSON, "build-a-row", "the softmax of the row"),
    hint="What does softmax do to scores that are farther apart?",
    returns=2,
)
def without_scaling(spot: Spot) -> Question | None:
    """Ask what the largest weight would be without the division; None if it would hardly be larger."""
    found = sharper(spot)
    now, then, d_k = found.with_division, found.without, found.width
    if then - now < MARGIN:
        return None
    prompt = (
        f"The largest weight of {found.query} is {now:.2f}. What would it be if the scores were not divided by √{d_k}?"
    )
    why = f"It would be {then:.2f}: the scores would be {d_k**0.5:.1f} times as far apart."
    larger = f"{why} Softmax gives almost everything to the largest of such scores." if then > 0.9 else why
    equal = f"{why} The order of the words stays the same, but softmax depends on the differences, and they grow."
    smaller = f"{why} Larger differences make the weights more unequal, and the division makes them more equal."
    options = Option("Larger", larger, correct=True), Option("The same", equal), Option("Smaller", smaller)
    return shuffled("without-scaling", prompt, options)


def divided(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """Draw the weights of one query with and without the division by √d_k; in a long text, for its heaviest keys."""
    row, n = attention_row(traced.layer(layer), head, query), len(traced)
    seen = heaviest(row.weights, key, min(n, BARS))
    both = np.stack([row.weights, undivided(row)])[:, seen]
    names = f"÷ √{len(row.query)}", "not divided"
    axes = Axis("Scores", names), Axis(KEY, [traced.labels[i] for i in seen])
    part = "" if n <= BARS else f", {len(seen)} keys of {n}"
    return heatmap(both, axes, WEIGHT, title=f"The weights of {traced.labels[query]}{part}")


def show(view: OneHead) -> None:
    """Show the weights of one row with and without the division by √d_k."""
    idea(IDEA)
    show_sentence(view)
    if not predict(LESSON, without_scaling(view.spot)):
        return
    found = sharper(view.spot)
    d_k = found.width
    draw(view.figure(divided), "divided")
    meaning(said(found))
    say(
        f"A score adds up {d_k} products, like {d_k} random steps to the left or right: they end about √{d_k} ≈ "
        f"{d_k**0.5:.2f} steps away. The division undoes this (Vaswani et al. 2017). A model trained without it would "
        "have smaller weights."
    )
    there = step_name(LESSON, "break-it")
    try_this("take it away. How far do the outputs move?", there, {STEP: there})
    code(forward.scale)
