"""Findings that a figure's meaning and a question share: computed once, then said and asked.

No finding knows a screen. Tests compute the numbers of each again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.attention import AttentionRow
from lab.course.words import named
from lab.models.trace import Trace
from lab.questions.question import MARGIN, Option, Question

# A difference that two decimals show.
SEEN = 0.01


@dataclass(frozen=True)
class Sharper:
    """The division by √d_k in one row: what it does to the largest weight (Vaswani et al. 2017, §3.2.1).

    Attributes
    ----------
    query, word
        The token whose row it is, and the one with the largest weight, in words.
    with_division, without
        The largest weight, and the weight of that token where the scores are not divided.
    width
        d_k, the numbers in a query.
    """

    query: str
    word: str
    with_division: float
    without: float
    width: int


def sharper(trace: Trace, row: AttentionRow, query: int) -> Sharper:
    """The largest weight of the row of ``query``, with the division and without. The order of the weights stays."""
    scores = np.where(np.isneginf(row.scaled), -np.inf, row.scores).astype(np.float64)
    exponentials = np.exp(scores - scores.max())
    first = int(row.weights.argmax())
    without = float(exponentials[first] / exponentials.sum())
    return Sharper(named(trace, query), named(trace, first), float(row.weights[first]), without, len(row.query))


def what_it_means(found: Sharper) -> str:
    """What the largest weight would be without the division."""
    it, now, then = found.word, found.with_division, found.without
    if abs(then - now) < SEEN:
        return f"It makes little difference in this row: {it} has {now:.2f}, and without the division {then:.2f}."
    less = ", and less would come from the others" if then > now else ""
    return f"{it} has {now:.2f}. Without the division it would have **{then:.2f}**{less}."


def without_scaling(found: Sharper) -> Question | None:
    """What would the largest weight be without the division? None where it would hardly be larger."""
    now, then, d_k = found.with_division, found.without, found.width
    if then - now < MARGIN:
        return None
    prompt = (
        f"The largest weight of {found.query} is {now:.3f}. Without the division by √{d_k}, the largest weight would be"
    )
    larger = (
        f"It would be {then:.3f}: scores {d_k**0.5:.1f} times as far apart make the softmax put almost everything on "
        "the largest."
    )
    equal = (
        f"It would be {then:.3f}. The order of the tokens stays, the weights do not: the softmax depends on "
        "differences, and they grow."
    )
    smaller = f"It would be {then:.3f}. Larger differences make a softmax sharper; the division makes it flatter."
    options = Option("larger", larger, correct=True), Option("the same", equal), Option("smaller", smaller)
    return Question("without-scaling", prompt, options)
