"""Sentences that compare the heads that park with the others; the numbers choose the sentences.

Layers and heads count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.parked import PARKED, effect_sizes, parked_share
from lab.analysis.heads.values import Values, keep_others
from lab.course.words import capital, head_name, heads, resting_place, signed
from lab.models.interventions import Head
from lab.models.trace import Trace

_SMALL = 0.005  # a number below this limit rounds to less than 0.01


def compared(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> str:
    """Compare heads that park with the others by the effect in the figure, without a conclusion."""
    unit = " of their length" if place is None or word is None else " in ln P"
    return parked_against_busy(parked_share(trace), effect_sizes(trace, place, word, to_mean), trace, unit)


def parked_against_busy(shares: Values, effects: Values, trace: Trace, unit: str) -> str:
    """Compare heads that park with the others: ``shares`` and ``effects`` (L, H), the latter in ``unit``."""
    where, parked = resting_place(trace), shares > PARKED
    if keep_others(trace) is None:
        return "This text has no words besides the tokens on which heads park. Write a longer text."
    if not parked.any():
        most = np.unravel_index(int(shares.argmax()), shares.shape)
        at: Head = (int(most[0]), int(most[1]))
        return (
            f"No head parks here: none sends more than {PARKED:.0%} of the words’ attention to {where}. "
            f"{capital(head_name(at))} comes nearest ({shares[at]:.2f}). Without this head, the size of the change is "
            f"{_size(effects[at])}{unit}; the mean over all heads is {_size(effects.mean())}{unit}."
        )
    if parked.all():
        return f"All {parked.size} heads park on {where}, so there is no other head to compare them with."
    inside, outside = effects[parked], effects[~parked]
    return (
        f"{capital(heads(int(parked.sum())))} of {parked.size} park on {where}. Without one of them, the change is "
        f"{_typical(inside, unit)}. Without one of the other heads, it is {_typical(outside)}."
    )


def _typical(effects: Values, unit: str = "") -> str:
    """State the mean and the largest of some effects, in one phrase if both are small."""
    if 0 < effects.max() < _SMALL:
        return f"always {_size(effects.max())}{unit}"
    return f"{_size(effects.mean())}{unit} on average, at most {_size(effects.max())}"


def _size(value: float) -> str:
    """Write a number with two decimals; a small number is not called 0."""
    return signed(float(value)) if value >= _SMALL or value == 0 else "less than 0.01"
