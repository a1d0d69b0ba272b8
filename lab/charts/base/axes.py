"""The words of a chart: names along its sides, its quantity, labels from a learner's text, a description (`alt=`)."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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


_JOINERS = {"\u200c", "\u200d"}  # joiners, which Persian words and emoji families need
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_RIGHT_TO_LEFT = {"R", "AL"}


@lru_cache(maxsize=4096)
def visible(text: str, limit: int | None = 24) -> str:
    """Return at most `limit` characters of `text`, with a sign for each invisible or order-changing character.

    A newline becomes \\n and a tab \\t, any other control or format character its number (the right-to-left
    override: ⟨202E⟩), an outer space ␣, half a surrogate pair �.
    The result can be encoded and cannot reorder the text beside it, but it is NOT escaped for HTML.
    """
    if not text:
        return "(empty)"
    inner = range(len(text) - len(text.lstrip()), len(text.rstrip()))
    pieces = [_sign(char, outer=place not in inner) for place, char in enumerate(text)]
    if limit is not None and len(pieces) > limit:
        pieces = [*pieces[: limit - 1], "…"]
    return "".join(pieces)


def _sign(char: str, *, outer: bool) -> str:
    category = unicodedata.category(char)
    if char in _ESCAPES:
        return _ESCAPES[char]
    if category == "Cs":
        return "\ufffd"
    if category in {"Cc", "Cf", "Zl", "Zp"} and char not in _JOINERS:
        return f"⟨{ord(char):04X}⟩"
    return "␣" if category == "Zs" and outer else char


def distinct(labels: Sequence[str]) -> list[str]:
    """Make `labels` unique: each label that occurs more than once gets its position, counted from 1 (`the·5`)."""
    counts = Counter(labels)
    taken = {label for label, count in counts.items() if count == 1}
    result = []
    for position, label in enumerate(labels, start=1):
        name = label
        if counts[label] > 1:
            name = f"{label}·{position}"
            while name in taken:
                name += f"·{position}"
            taken.add(name)
        result.append(name)
    return result


def direction(text: str) -> str:
    """Return `"rtl"` or `"ltr"`: the direction of the first character of `text` that has a direction."""
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind in _RIGHT_TO_LEFT:
            return "rtl"
        if kind == "L":
            return "ltr"
    return "ltr"


_NAMED_LINES = 3


def describe_heatmap(
    values: NDArray[np.float32],
    axes: tuple[Axis, Axis],
    *,
    value_format: str = ".2f",
    causal: bool = False,
    kind: str = "Heatmap",
) -> str:
    """E.g. "Heatmap, 8 by 8. Largest 0.62: query “cat”, key “the”.", and the smallest if it is negative."""
    shown = np.where(np.tri(*values.shape) > 0, values, np.nan) if causal else values
    names = [_names(axis.names) for axis in axes]

    def cell(place: int) -> str:
        at = divmod(place, values.shape[1])
        where = ", ".join(f"{_term(axis.title)}{name[i]}" for axis, name, i in zip(axes, names, at, strict=True))
        return f"{_written(values[at], value_format)}: {where}."

    text = f"{kind}, {values.shape[0]} by {values.shape[1]}. Largest {cell(int(np.nanargmax(shown)))}"
    if np.nanmin(shown) < 0:
        text += f" Smallest {cell(int(np.nanargmin(shown)))}"
    return text + (" Above the diagonal all is masked." if causal else "")


def describe_bars(
    values: NDArray[np.float32], labels: Sequence[str], *, value_format: str = ".2f", kind: str = "Bar chart"
) -> str:
    """E.g. "Bar chart, 5 values. Largest 0.41: “cat”.", and the smallest if it is negative."""
    names = _names(labels)

    def bar(place: int) -> str:
        return f"{_written(values[place], value_format)}: {names[place]}."

    text = f"{kind}, {len(values)} values. Largest {bar(int(values.argmax()))}"
    return text + (f" Smallest {bar(int(values.argmin()))}" if values.min() < 0 else "")


def describe_lines(series: dict[str, NDArray[np.float32]], *, value_format: str = ".2f") -> str:
    """E.g. "Line chart, 2 lines. “train” goes from 5.10 to 2.31 in 40 points. …"."""
    told = [
        f"“{visible(name)}” goes from {_written(line[0], value_format)} "
        f"to {_written(line[-1], value_format)} in {len(line)} points."
        for name, line in list(series.items())[:_NAMED_LINES]
    ]
    rest = len(series) - len(told)
    return " ".join(
        [
            f"Line chart, {len(series)} {'line' if len(series) == 1 else 'lines'}.",
            *told,
            *([f"And {rest} more."] if rest else []),
        ]
    )


def _written(value: np.float32, value_format: str) -> str:
    """Format a value as the chart writes it; a number that rounds to 0 has no minus sign."""
    sign = "+" if value_format.startswith("+") else ""
    return format(float(value), f"{sign}z{value_format.removeprefix('+')}")


def _term(title: str) -> str:
    """Return the noun of an axis title: "Query (attends)" is "query "."""
    noun = title.split("(", maxsplit=1)[0].strip().lower()
    return f"{noun} " if noun else ""


def _names(labels: Sequence[str]) -> list[str]:
    """Return labels for a screen reader: in quotation marks, unless the labels are numbers."""
    return [name if name.isdecimal() else f"“{name}”" for name in distinct([visible(label) for label in labels])]
