"""Why divide: the largest weight of a row with and without the division of its scores by √d_k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.attention import attention_row, heaviest
from lab.analysis.heads.undivided import undivided
from lab.analysis.layers.mistakes import moved_at_last
from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.pages import step_name
from lab.course.words import VISIBLE, named, signed
from lab.figures import mistakes
from lab.figures.attention import BARS
from lab.figures.axes import KEY, WEIGHT
from lab.lessons.self_attention import LESSON
from lab.lessons.self_attention.break_it import explained, taken_away
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, say_more, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import STEP
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

IDEA = """
In **Build a row**, every score was divided by a number before softmax. Why? What would softmax do to the scores as
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
        return (
            f"In this row, the division changes little: {it} gets {now:.2f}, and would get {then:.2f} without the "
            "division."
        )
    rest = " Little would be left for the other words." if then > 0.9 else ""
    return f"{it} gets {now:.2f}. Without the division, it would get **{then:.2f}**.{rest}"


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
    equal = f"{why} The order of the words stays the same, but the differences grow, and softmax depends on them."
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


def moved(found: Mapping[str, float]) -> str:
    """Name the part whose loss moves the last vectors most; ``found`` has each distance as a share of their length."""
    most, least = max(found, key=lambda name: found[name]), min(found, key=lambda name: found[name])
    if found[most] - found[least] < VISIBLE:
        return (
            f"Each of these changes moves the last vectors about equally far, by {found[most]:.2f} times their length."
        )
    return (
        f"Of these changes, **“{most}”** moves the last vectors most, by **{found[most]:.2f}** times their length. "
        f"**“{least}”** moves them least, by {found[least]:.2f}."
    )


def spread(spot: Spot) -> str:
    """Compare the scores of a row with what random numbers of the same width would give."""
    scores, d_k = spot.row.scores[np.isfinite(spot.row.scaled)], len(spot.row.query)
    low, high = (signed(float(each)) for each in (scores.min(), scores.max()))
    return (
        f"A score adds up {d_k} products. If these were random, as often 1 as −1, the sum would typically be "
        f"√{d_k} ≈ {d_k**0.5:.2f} away from 0, so a wider head would have larger scores. Then softmax would give "
        "nearly everything to one token, and small changes of the scores would change nothing. So training, which "
        "makes only small changes (lesson 10), could not improve them. The division prevents this (Vaswani et al. "
        f"2017, §3.2.1). Trained vectors are not random: here the scores go from {low} to {high}."
    )


def show(view: OneHead) -> None:
    """Show a row with and without the division, and how far the output moves without each part of attention."""
    idea(IDEA)
    show_sentence(view)
    if not view.trace.model.config.scaled_scores:
        say("This model does not divide its scores.")
    elif not predict(LESSON, without_scaling(view.spot)):
        return
    else:
        draw(view.figure(divided), "divided")
        meaning(said(sharper(view.spot)))
        say(spread(view.spot))
        st.caption(
            "You see a model that was trained with the division. A model trained without it could learn smaller "
            "queries and keys."
        )
    _show_losses(view)


def _show_losses(view: OneHead) -> None:
    """Draw how far the last vectors move without the division, the mask or the values, and offer to break more."""
    losses = taken_away(view.trace)
    say("How much does this model need each part of attention? Take one part away in every layer:")
    say("\n".join(f"- **{name}.** {explained(view.trace, name)}" for name, _ in losses))
    draw(partial(mistakes.moved_by_mistake, view.trace, losses), "mistakes")
    say_more(moved({name: moved_at_last(view.trace, changes) for name, changes in losses}))
    st.caption("A bar at 1 means that a vector moves by its own length. Each bar is a mean over all tokens.")
    there = step_name(LESSON, "break-it")
    try_this("break the model yourself, and watch the map and the predicted word.", there, {STEP: there})
    code(forward.scale)
