"""The words of a chart: the names along the sides, and the name and unit of the quantity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Domain = tuple[float, float]

_NEARLY_ALL = 0.95  # of the numbers of a map


@dataclass(frozen=True)
class Axis:
    """One side of a matrix.

    title    as the reader sees it
    names    one for each place; they may repeat and may be any text: they are data, not markup
    first    the position of the first name, which the tooltip shows before the name: "3 · cat"; None: names alone
    counts   True if the names are only the numbers 1, 2, 3 …; then only a few of them are written
    things   the places in the plural, such as "tokens", for sentences about their number
    count    the number of all such things, if only a part of them is on this side
    """

    title: str
    names: Sequence[str]
    first: int | None = None
    counts: bool = False
    things: str = "places"
    count: int | None = None

    @property
    def noun(self) -> str:
        """The title without what is in brackets: "Query (attends)" is "Query"."""
        return self.title.partition(" (")[0]

    @property
    def total(self) -> int:
        """The number of things, including those that are not drawn."""
        return len(self.names) if self.count is None else self.count


@dataclass(frozen=True)
class AxisPlaces:
    """The horizontal axis of a line chart: the title, and the places of the points (by default 1, 2, 3 …)."""

    title: str
    at: Sequence[float] | None = None


@dataclass(frozen=True)
class Scale:
    """The quantity of a chart's numbers, and how they are drawn.

    title    with their unit
    domain   values at the ends of the colours, or of the axis; without it, the least and largest number. Give it if
             several charts are compared, or if the numbers change often: the drawing is then mended in place
    format   of the numbers that are written in the chart if there is room, and in the alternative text
    signed   colours go both ways from 0, and a domain that is not given is symmetric
    cut      without a domain, the colours end where nearly all numbers end, if some are much larger: otherwise these
             few would make all others pale. The legend says that there are larger ones
    """

    title: str
    domain: Domain | None = None
    format: str = ".3f"
    signed: bool = False
    cut: bool = False

    def limits(self, values: NDArray[np.float32]) -> Domain:
        """Return the domain of the scale; if it has none, the domain of ``values``."""
        low, high = self.domain or span(values, self.signed)
        return float(low), float(high)

    def colour_limits(self, values: NDArray[np.float32]) -> Domain:
        """Return the values at the ends of the colours: :meth:`limits`, or less if this scale is ``cut``."""
        low, high = self.limits(values)
        usual = float(f"{np.quantile(np.abs(values), _NEARLY_ALL):.2g}")
        if self.domain is not None or not self.cut or not 0 < usual < max(-low, high) / 2:
            return low, high
        return max(low, -usual), min(high, usual)


def span(values: NDArray[np.float32], signed: bool) -> Domain:
    """The domain of a scale for `values`: from 0 or the smallest to the largest; if `signed`, symmetric about 0."""
    high = float((np.abs(values) if signed else values).max())
    high = high if high > 0 else 1.0
    return (-high, high) if signed else (min(0.0, float(values.min())), high)
