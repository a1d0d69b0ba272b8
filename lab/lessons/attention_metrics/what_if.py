"""Checks of lesson 5 that ask why, what would happen if, and about another sentence: each is really run."""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.values import Values
from lab.course.checks import MARGIN, Option, Question, shuffled
from lab.course.heads import Head, head_name
from lab.course.kinds import rises_or_falls, which_holds
from lab.course.words import quoted

_THIRDS = ("In the evenest third", "In the middle third", "In the least even third")
# A change nearer than this to the margin decides nothing that a reader could see.
_BLUR = 0.01
_FEWEST = 6  # heads that can be cut into thirds


def why_divided(n: int) -> Question | None:
    """Why is the entropy of a row divided by the logarithm of its length?"""
    if n < 2:
        return None
    now, then = math.log(n), math.log(2 * n)
    return shuffled(
        "why-divided",
        f"The corrected entropy divides a row by ln {n}, the logarithm of how many keys it has. Why?",
        [
            Option(
                "So that texts of different length can be compared",
                f"An even row over {n} keys has {now:.2f} nats, over {2 * n} keys {then:.2f}. Divided, both have 1.",
                correct=True,
            ),
            Option(
                "So that the weights of the row add up to 1",
                "They do so already, after the softmax. The entropy is a number made from them.",
            ),
            Option(
                "So that a head that looks at one key only gets 1",
                "Such a row has the entropy 0, and 0 divided by anything is 0. An even row gets 1.",
            ),
        ],
    )


def third(values: Values, head: Head) -> int | None:
    """In which third of the heads one stands by ``values`` (L, H), the largest first; None with too few heads."""
    if not np.isfinite(values).all() or values.size < _FEWEST:
        return None
    before = int((values > values[head]).sum())
    return min(2, 3 * before // values.size)


def another_sentence(head: Head, here: Values, there: Values, text: str) -> Question | None:
    """Where does a head stand among all by spread in another ``text``? ``here`` and ``there`` are (L, H)."""
    now, then = third(here, head), third(there, head)
    if now is None or then is None:
        return None
    told = (
        "It stands in the same third: what a head does carries over to other sentences, as far as two can show it."
        if now == then
        else "It stands in another third: one sentence does not say what a head does in all."
    )
    why = f"Its corrected entropy there is {there[head]:.2f}, here {here[head]:.2f}. {told}"
    prompt = (
        f"Sorted by corrected entropy, {head_name(head)} is {_THIRDS[now].lower()} of all {here.size} heads on your "
        f"text. Where is it on another sentence, {quoted(text)}?"
    )
    return which_holds("another-sentence", prompt, why, {name: at == then for at, name in enumerate(_THIRDS)})


def said_twice(head: Head, once: float, twice: float) -> Question | None:
    """What does confidence (average) of a head do when the text stands there two times?"""
    change = twice - once
    if not math.isfinite(change) or abs(abs(change) - MARGIN) < _BLUR:
        return None
    why = f"It goes from {once:.2f} to {twice:.2f}. There are twice as many keys to look at, and each word has a twin."
    prompt = (
        f"On your text, the largest weight of a row of {head_name(head)} is {once:.2f} on average. Write the text "
        "twice, one after the other. What happens to this average?"
    )
    return which_holds("said-twice", prompt, why, rises_or_falls(change))
