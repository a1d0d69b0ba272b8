"""Checks of lesson 5 that ask why, what would happen if, and about another sentence: each is really run."""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.values import Values
from lab.course.words import head_name, quoted
from lab.models.interventions import Head
from lab.questions.kinds import which_holds
from lab.questions.question import Option, Question, shuffled

_THIRDS = ("In the third that looks at most words", "In the middle third", "In the third that looks at fewest words")
# A ratio that changes by less than this share of itself decides nothing that a reader could see.
_CLEAR = 0.2
_FEWEST = 6  # heads that can be cut into thirds


def why_divided(n: int) -> Question | None:
    """Ask why the entropy of a row is divided by the logarithm of its length."""
    if n < 2:
        return None
    now, then = math.log(n), math.log(2 * n)
    return shuffled(
        "why-divided",
        f"The corrected entropy of a row is divided by ln {n}, because it has {n} words to look at. Why?",
        [
            Option(
                "So that texts of different length can be compared",
                f"An even row over {n} words has {now:.2f} nats, and over {2 * n} words {then:.2f}. After the "
                "division, both have 1.",
                correct=True,
            ),
            Option(
                "So that the weights of the row add up to 1",
                "The weights already add up to 1 after softmax. The entropy is computed from them.",
            ),
            Option(
                "So that a row that looks at only one word gets 1",
                "Such a row has the entropy 0, and 0 divided by anything is 0. An even row gets 1.",
            ),
        ],
    )


def third(values: Values, head: Head) -> int | None:
    """The third of all heads, by ``values`` (L, H), in which ``head`` is; 0 is the highest; None for too few heads."""
    if not np.isfinite(values).all() or values.size < _FEWEST:
        return None
    before = int((values > values[head]).sum())
    return min(2, 3 * before // values.size)


def another_sentence(head: Head, here: Values, there: Values, text: str) -> Question | None:
    """Ask what two texts say about a head's rank by spread; ``here``, ``there`` (L, H), the latter from ``text``."""
    now, then = third(here, head), third(there, head)
    if now is None or then is None:
        return None
    same = now == then
    why = f"Its corrected entropy is {here[head]:.2f} here, and {there[head]:.2f} there."
    prompt = (
        f"Sort the {here.size} heads by how widely they spread their attention. In your text, {head_name(head)} is "
        f"{_THIRDS[now][:1].lower()}{_THIRDS[now][1:]}. In another sentence, {quoted(text)}, it is "
        f"{_THIRDS[then][:1].lower()}{_THIRDS[then][1:]}. What follows?"
    )
    return shuffled(
        "another-sentence",
        prompt,
        [
            Option(
                "It is in the same third in these two texts, but perhaps not in others"
                if same
                else "The text matters, too",
                why,
                correct=True,
            ),
            Option(
                "It is in this third in every text" if same else "One of the two results is wrong",
                f"{why} Two texts cannot show what happens in all others."
                if same
                else f"{why} Both results are right: a metric describes one head in one text.",
            ),
            Option(
                "Every word of the two texts is treated alike", f"{why} The number is a mean over rows that can differ."
            ),
        ],
    )


def said_twice(head: Head, once: tuple[float, float], twice: tuple[float, float]) -> Question | None:
    """Ask if confidence (average), divided by a uniform head's, grows when the text is doubled.

    ``once`` and ``twice``: the value of the head and of a uniform head, on the text and on the doubled text.
    """
    before, after = (own / even for own, even in (once, twice))
    if not (math.isfinite(before) and math.isfinite(after)) or abs(after - before) < _CLEAR * before:
        return None
    why = (
        f"It goes from {before:.1f} to {after:.1f} times the value of a uniform head. In a longer text, weights get "
        "smaller, whatever a head does. So compare a head with a uniform head in the same text."
    )
    prompt = (
        f"In your text, the largest weight of a row of {head_name(head)} is {once[0]:.3f} on average, and "
        f"{once[1]:.3f} in a uniform head. Write the text twice: now it is {twice[0]:.3f}, and {twice[1]:.3f} in a "
        "uniform head. Compared with a uniform head, do the favourites of this head stand out more or less?"
    )
    return which_holds("said-twice", prompt, why, {"More": after > before, "Less": after < before})
