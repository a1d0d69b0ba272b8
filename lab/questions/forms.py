"""The forms of an answer: an option, a number, or a place. An answer is kept as one number and counted in a bin."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

# Relative tolerance for rounding, so that an answer at the limit of the right range counts as right.
_LAST_BITS = 1e-9


class Kind(Enum):
    """The kind of answer that a learner gives."""

    CHOICE = "choice"
    NUMBER = "number"
    PLACE = "place"


@dataclass(frozen=True)
class Bounds:
    """The range that a number may have, and its unit. Neither range nor unit tells which number is right."""

    low: float
    high: float
    unit: str

    def accepts(self, value: float) -> bool:
        """Return whether the value can be an answer."""
        return math.isfinite(value) and self.low <= value <= self.high


@dataclass(frozen=True)
class NumberAnswer:
    """A number as the answer: the right value, its tolerance, and the edges of the histogram's bins.

    ``value`` ± ``tolerance`` are among ``edges`` if they are within the bounds, so that one bin has all right answers,
    and no other answers.
    """

    value: float
    tolerance: float
    bounds: Bounds
    edges: tuple[float, ...]

    @property
    def right(self) -> int:
        """The number of the bin with the right value."""
        return bisect_right(self.edges, self.value)

    def bin(self, value: float) -> int:
        """The number of an answer's bin, from 0. An answer on an edge of the right bin is in the right bin."""
        if abs(value - self.value) <= self.tolerance * (1 + _LAST_BITS):
            return self.right
        found = bisect_right(self.edges, value)
        return found if found != self.right else found + (1 if value > self.value else -1)

    @property
    def bins(self) -> tuple[str, ...]:
        """The range of each bin, in words; the first and the last bin are open."""
        ends = [self.written(edge) for edge in self.edges]
        until = " to " if self.edges and self.edges[0] < 0 else "–"
        between = (f"{low}{until}{high}" for low, high in pairwise(ends))
        return (f"under {ends[0]}", *between, f"over {ends[-1]}") if ends else ("any",)

    def written(self, value: float) -> str:
        """Write a number with one digit more than the tolerance needs."""
        digits = max(0, 1 - math.floor(math.log10(self.tolerance)))
        return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")  # to turn -0 into 0


@dataclass(frozen=True)
class Picks:
    """The places to pick from: the tokens of a text, or heads, in one row per layer."""

    tokens: tuple[str, ...] = ()
    layers: int = 1
    heads: int = 0

    def __len__(self) -> int:
        return len(self.tokens) or self.layers * self.heads

    def name(self, place: int) -> str:
        """Name a place in plain text. The direction of a token does not affect the text around it."""
        if self.tokens:
            return f"“\u2068{self.tokens[place]}\u2069” ({place + 1})"
        head = place % self.heads + 1
        return f"Layer {place // self.heads + 1}, head {head}" if self.layers > 1 else f"Head {head}"


@dataclass(frozen=True)
class PlaceAnswer:
    """A place as the answer: the right place, and the places to pick from."""

    right: int
    picks: Picks

    @property
    def bins(self) -> tuple[str, ...]:
        """Each place, in words."""
        return tuple(map(self.picks.name, range(len(self.picks))))
