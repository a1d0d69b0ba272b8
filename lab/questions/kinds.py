"""The kinds of question: which outcome holds, which number is right, which of many numbers is the largest."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.course.words import with_minus
from lab.questions.forms import Bounds, NumberAnswer, Picks, PlaceAnswer
from lab.questions.question import MARGIN, Option, Question, clear_winner, shuffled

# Two numbers that are closer than this share of the larger are never both options.
NEAR = 0.1
# The largest size of a number without other limits.
MOST = 1e9
_BINS = 4  # number of bins on either side of the right bin
_PARTS = re.compile(r"(?P<digits>-?[\d,]+(?:\.(?P<after>\d+))?(?:e(?P<power>[+-]\d+))?)\s*(?P<unit>\D*)")


def which_holds(id: str, prompt: str, why: str, outcomes: Mapping[str, bool], *, mixed: bool = False) -> Question:
    """Ask which of ``outcomes`` is true; one explanation serves all options.

    Outcomes that have an order keep it. All others must be ``mixed``, so that the right one is not always the first.
    """
    options = tuple(Option(text, why, correct=right) for text, right in outcomes.items())
    return shuffled(id, prompt, options) if mixed else Question(id, prompt, options)


def rises_or_falls(change: float) -> dict[str, bool]:
    """The possible outcomes of a change of a probability, for :func:`which_holds`."""
    rises, falls = change > MARGIN, change < -MARGIN
    same = not (rises or falls)
    return {"It rises by more than 0.05": rises, "It stays within 0.05": same, "It falls by more than 0.05": falls}


def ranked(
    id: str,
    prompt: str,
    values: Sequence[float],
    name: Callable[[int], str],
    why: Callable[[int, int], str],
    *,
    of: Sequence[str] | int = (),
) -> Question | None:
    """Ask which of ``values`` is the largest; the wrong options are the next three.

    ``name(index)`` names a value, and ``why(index, best)`` explains it. If each value is ``of`` a token, or of a head
    (then ``of`` is the number of heads in a layer), a class can pick any of them. None without a clear winner, so that
    no two places are right.
    """
    if clear_winner(values) is None:
        return None
    order = sorted(range(len(values)), key=lambda i: -values[i])[:4]
    options = [Option(name(i), with_minus(why(i, order[0])), correct=i == order[0]) for i in order]
    asked = shuffled(id, prompt, options)
    if isinstance(of, int):
        return replace(asked, place=PlaceAnswer(order[0], Picks(layers=len(values) // of, heads=of)))
    return replace(asked, place=PlaceAnswer(order[0], Picks(tuple(of)))) if of else asked


@dataclass(frozen=True)
class Quantity:
    """The kind of number in a question: how to write it, the least distance of two options, and its limits."""

    show: Callable[[float], str]
    apart: float = 0.0
    within: tuple[float, float] = (-math.inf, math.inf)


def numeric(
    id: str, prompt: str, answer: tuple[float, str], wrong: Mapping[float, str], of: Quantity
) -> Question | None:
    """Ask for a number; ``answer`` and ``wrong`` pair each value with its explanation.

    A wrong number is left out if it is within a tenth of a number already offered, or closer than ``of.apart``, so that
    nobody has to round, and also if it cannot be an answer or is not finite. At most three wrong numbers stay. None if
    fewer than two stay.
    """

    def option(value: float, why: str) -> Option:
        return Option(with_minus(of.show(value)), with_minus(why), correct=value == answer[0])

    kept = {answer[0]: option(*answer)}
    for value, why in wrong.items():
        possible = math.isfinite(value) and of.within[0] <= value <= of.within[1]
        far = all(abs(value - other) >= max(of.apart, NEAR * max(abs(value), abs(other))) for other in kept)
        offer = option(value, why)
        if possible and far and offer.text not in [other.text for other in kept.values()]:
            kept[value] = offer
    if len(kept) < 3:
        return None
    offered = list(kept)[:4]
    asked = shuffled(id, with_minus(prompt), [kept[value] for value in offered])
    return replace(asked, number=_number(offered, kept[answer[0]].text, of.apart, of.within))


def _number(offered: Sequence[float], shown: str, apart: float, within: tuple[float, float]) -> NumberAnswer:
    """The answer to the question if it has no options. ``offered``: the right number, then the wrong options.

    The tolerance is at least half the distance that two options must have, or half a step of the last digit ``shown``
    if that is more, so that the number as shown is right. The tolerance ends halfway to the nearest wrong option.
    """
    value = offered[0]
    parts = _PARTS.search(shown)
    after, power = (len(parts["after"] or ""), int(parts["power"] or 0)) if parts else (0, 0)
    nearest = min(abs(other - value) for other in offered[1:])
    step = 10.0 ** (power - after) if parts else NEAR * nearest
    unit = parts["unit"].strip() if parts else ""
    if unit == "%":  # the value itself is a share
        step, unit = step / 100, ""
    tolerance = min(max(apart, NEAR * abs(value), step), nearest) / 2
    low, high = max(within[0], -MOST), min(within[1], MOST)
    return NumberAnswer(value, tolerance, Bounds(low, high, unit), _edges(offered, tolerance, low, high))


def _edges(offered: Sequence[float], tolerance: float, low: float, high: float) -> tuple[float, ...]:
    """The edges of bins of equal width on either side of the right bin, which reach to the farthest option."""
    value = offered[0]
    far = max(abs(other - value) for other in offered)
    width = max(2 * tolerance, (far - tolerance) / (_BINS - 0.5))
    sides = [tolerance + step * width for step in range(_BINS + 1)]
    edges = (*(value - each for each in reversed(sides)), *(value + each for each in sides))
    return tuple(edge for edge in edges if low < edge < high)
