"""What an answer can be: an option, or a number. Each is kept as one number, and counted in one of the bins."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

# An answer on the edge of what is right is right, however its sum is rounded.
_LAST_BITS = 1e-9


class Kind(Enum):
    """What a learner gives as an answer."""

    CHOICE = "choice"
    NUMBER = "number"


@dataclass(frozen=True)
class Bounds:
    """What a number may be, and what stands behind it. Nothing in it tells which one is right."""

    low: float
    high: float
    unit: str

    def accepts(self, value: float) -> bool:
        """Whether it can be an answer."""
        return math.isfinite(value) and self.low <= value <= self.high


@dataclass(frozen=True)
class Number:
    """A number is asked for: what is right, how near is near enough, and where the bins of the histogram meet.

    ``value`` ± ``tolerance`` are among ``edges``, where a number may be there: one bin has what is right, and no more.
    """

    value: float
    tolerance: float
    bounds: Bounds
    edges: tuple[float, ...]

    @property
    def right(self) -> int:
        """The bin with what is right."""
        return bisect_right(self.edges, self.value)

    def bin(self, value: float) -> int:
        """The bin of an answer, from 0. One on an edge of the right bin is in it."""
        if abs(value - self.value) <= self.tolerance * (1 + _LAST_BITS):
            return self.right
        found = bisect_right(self.edges, value)
        return found if found != self.right else found + (1 if value > self.value else -1)

    @property
    def bins(self) -> tuple[str, ...]:
        """What is in each bin, in words; the first and the last are open."""
        ends = [self.written(edge) for edge in self.edges]
        between = (f"{low} to {high}" for low, high in pairwise(ends))
        return (f"under {ends[0]}", *between, f"over {ends[-1]}") if ends else ("any",)

    def written(self, value: float) -> str:
        """A number with a digit more than the tolerance needs."""
        digits = max(0, 1 - math.floor(math.log10(self.tolerance)))
        return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")  # -0 + 0 is 0

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Number:
        return cls(found["value"], found["tolerance"], Bounds(**found["bounds"]), tuple(found["edges"]))
