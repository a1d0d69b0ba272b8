"""Findings that a figure's meaning and a question share: computed once, then said and asked.

Nothing here draws on a screen, and tests compute the numbers of each finding again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.heads.attention import AttentionRow
from lab.analysis.heads.undivided import undivided
from lab.course.words import named
from lab.models.trace import Trace
from lab.questions.kinds import ranked
from lab.questions.question import MARGIN, Option, Question, shuffled

# The smallest difference that is visible in two decimals.
SEEN = 0.01


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


def sharper(trace: Trace, row: AttentionRow, query: int) -> Sharper:
    """Compare the largest weight in the row of ``query`` with and without the division, which changes no order."""
    first = int(row.weights.argmax())
    without = float(undivided(row)[first])
    return Sharper(named(trace, query), named(trace, first), float(row.weights[first]), without, len(row.query))


def what_it_means(found: Sharper) -> str:
    """State the largest weight with the division and without it."""
    it, now, then = found.word, found.with_division, found.without
    if abs(then - now) < SEEN:
        return f"In this row the division changes little: {it} gets {now:.2f}, and would get {then:.2f} without it."
    rest = " Little would be left for the other words." if then > 0.9 else ""
    return f"{it} gets {now:.2f}. Without the division it would get **{then:.2f}**.{rest}"


def without_scaling(found: Sharper) -> Question | None:
    """Ask what the largest weight would be without the division; None if it would hardly be larger."""
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


def breaks_most(moved: Mapping[str, float]) -> Question | None:
    """Ask which mistake moves the last vectors most; ``moved`` has each distance as a share of the vectors' length."""
    names, values = list(moved), list(moved.values())

    def why(index: int, best: int) -> str:
        own = f"{names[index]}: the vectors move by {values[index]:.2f} times their length."
        return own if index == best else f"{own} {names[best]} moves them by {values[best]:.2f}."

    return ranked("breaks-most", "Which of these moves the vectors most?", values, names.__getitem__, why)


def what_breaks(moved: Mapping[str, float]) -> str:
    """Name the mistakes that move the last vectors most and least."""
    most, least = max(moved, key=lambda name: moved[name]), min(moved, key=lambda name: moved[name])
    if moved[most] - moved[least] < SEEN:
        return f"All of these mistakes move the vectors about equally far, by {moved[most]:.2f} times their length."
    return (
        f"**{most}** moves the vectors most, by **{moved[most]:.2f}** times their length, and **{least}** least, by "
        f"{moved[least]:.2f}."
    )
