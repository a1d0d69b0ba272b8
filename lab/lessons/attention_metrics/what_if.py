"""Checks of lesson 5 that ask why, what would happen if, and about another sentence: each is really run."""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.values import Values
from lab.course.heads import head_name
from lab.course.words import quoted
from lab.models.interventions import Head
from lab.questions.kinds import which_holds
from lab.questions.question import Option, Question, shuffled

_THIRDS = ("In the evenest third", "In the middle third", "In the least even third")
# A ratio that changes by less than this share of itself decides nothing that a reader could see.
_CLEAR = 0.2
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
    """What do two texts say of a head's place among all by spread? ``here`` and ``there`` (L, H), ``text`` is there."""
    now, then = third(here, head), third(there, head)
    if now is None or then is None:
        return None
    same = now == then
    why = f"Its corrected entropy there is {there[head]:.2f}, here {here[head]:.2f}."
    prompt = (
        f"Sort the {here.size} heads by corrected entropy. On your text, {head_name(head)} is {_THIRDS[now].lower()}; "
        f"on another sentence, {quoted(text)}, {_THIRDS[then].lower()}. What do you know now?"
    )
    return shuffled(
        "another-sentence",
        prompt,
        [
            Option(
                "In these two texts, it stands in the same third; that is all so far"
                if same
                else "Where this head stands depends on the text, too",
                why,
                correct=True,
            ),
            Option(
                "In every text, it stands in this third" if same else "One of the two results is wrong",
                f"{why} Two texts cannot show what happens in all others."
                if same
                else f"{why} Both are measured. A metric is that of one head on one text.",
            ),
            Option(
                "Every word of the two texts is treated alike",
                f"{why} That is a mean over the rows; single rows can differ much.",
            ),
        ],
    )


def said_twice(head: Head, once: tuple[float, float], twice: tuple[float, float]) -> Question | None:
    """What does confidence (average) say when the text stands there two times? Each: of the head, of a uniform one."""
    before, after = (own / even for own, even in (once, twice))
    if not (math.isfinite(before) and math.isfinite(after)) or abs(after - before) < _CLEAR * before:
        return None
    why = (
        f"It goes from {before:.1f} to {after:.1f} times that of a uniform head. With more keys to share among, "
        "weights get smaller, whatever a head does. So compare a head with a uniform one on the same text."
    )
    prompt = (
        f"On your text, the largest weight of a row of {head_name(head)} is {once[0]:.3f} on average, in a uniform "
        f"head {once[1]:.3f}. Write the text twice, one after the other: now it is {twice[0]:.3f}, in a uniform head "
        f"{twice[1]:.3f}. Beside a uniform head, how do the favourites of this head stand out?"
    )
    return which_holds(
        "said-twice", prompt, why, {"More than before": after > before, "Less than before": after < before}
    )
