"""A number that is asked for without options: how near is right, and what it may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Two numbers nearer than this share of the larger are never both options.
NEAR = 0.1
# Between what bounds a number is read that may be any.
MOST = 1e9
_BINS = 4  # of a width, on either side of the right one
_PARTS = re.compile(r"(?P<digits>-?[\d,]+(?:\.(?P<after>\d+))?(?:e(?P<power>[+-]\d+))?)\s*(?P<unit>\D*)")


@dataclass(frozen=True)
class Number:
    """What is right, and how near is near enough.

    Attributes
    ----------
    low, high
        What it may be.
    unit
        What stands behind it; empty where nothing does.
    edges
        Where the bins of a histogram meet, in order: ``value`` ± ``tolerance``, and others on either side.
    """

    value: float
    tolerance: float
    low: float
    high: float
    unit: str
    edges: tuple[float, ...]


def number(offered: Sequence[float], shown: str, apart: float, within: tuple[float, float]) -> Number:
    """The number as it is asked for without options. ``offered``: the right one, then the wrong options.

    The tolerance is half of what lies between two options at least, so no wrong option is near enough; and at least
    half a step of the last digit ``shown``, so that the number as it is shown is right.
    """
    value = offered[0]
    parts = _PARTS.search(shown)
    after, power = (len(parts["after"] or ""), int(parts["power"] or 0)) if parts else (0, 0)
    step = 10.0 ** (power - after) if parts else 0.0
    tolerance = max(apart, NEAR * abs(value), step) / 2
    low, high = max(within[0], -MOST), min(within[1], MOST)
    unit = parts["unit"].strip() if parts else ""
    return Number(value, tolerance, low, high, unit, _edges(offered, tolerance, low, high))


def _edges(offered: Sequence[float], tolerance: float, low: float, high: float) -> tuple[float, ...]:
    """Bins of one width on either side of the right one, so wide that they reach the farthest option."""
    value = offered[0]
    far = max(abs(other - value) for other in offered)
    width = max(2 * tolerance, (far - tolerance) / (_BINS - 0.5))
    sides = [tolerance + step * width for step in range(_BINS + 1)]
    edges = (*(value - each for each in reversed(sides)), *(value + each for each in sides))
    return tuple(edge for edge in edges if low < edge < high)
