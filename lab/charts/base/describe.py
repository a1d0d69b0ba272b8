"""Describe a chart in a sentence or two, for readers who cannot see the chart (`alt=`)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.charts.base.axes import Axis
from lab.charts.base.labels import distinct, visible

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
