"""Draw lines and mark a few points, such as a head's value on a curve over text lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.chart_table import unique_names
from lab.charts.base.figure import Figure, numbers
from lab.charts.base.plain import number, tooltip
from lab.charts.marks.lines import across, line_figure, pointed, told_apart, upward


def marked_lines(
    series: Mapping[str, ArrayLike],
    marks: Mapping[str, tuple[float, float]],
    x: AxisPlaces,
    y: Scale,
    *,
    title: str,
    log: bool = True,
) -> Figure:
    """Draw `series`, as :func:`lines` does, over the logarithm of `x` (or over `x`), and each of `marks` (x, y).

    A mark with the name of a line has the line's colour; any other mark has its name beside it.

    Raises
    ------
    ValueError
        Anything that `lines` refuses; an x or mark that has no logarithm; a mark that is NaN or infinite.
    """
    places = numbers([[*place] for place in marks.values()], ("marks", "coordinates"), of="marked lines")
    at = [*(x.at or ()), *places[:, 0].tolist()]
    if log and min(at) <= 0:
        raise ValueError(f"marked lines: {min(at)} has no logarithm; x and marks must be above 0.")
    at_marks = dict(zip(marks, places.tolist(), strict=True))
    across_by = {"type": "log" if log else "linear", "domain": (float(min(at)), float(max(at)))}
    draw = partial(_chart, list(series), at_marks, (x, y), across_by)
    figure = line_figure(series, x, y, title, draw, mark_labels=list(marks))
    told = "; ".join(
        f"{name} at {x.title.lower()} {place[0]:g}: {format(float(place[1]), y.format)}"
        for name, place in zip(marks, places, strict=True)
    )
    made = partial(_table, figure, places, list(marks))
    return replace(figure, alt=f"{figure.alt} Marked: {told}.", table=made)


def _chart(
    names: Sequence[str],
    marks: Mapping[str, Sequence[float]],
    axes: tuple[AxisPlaces, Scale],
    across_by: Mapping[str, Any],
) -> alt.LayerChart:
    """The lines, their invisible points, which only answer the pointer, and the marks with their names."""
    x, y = axes
    layers = [
        alt.Chart().mark_line(strokeWidth=2, tooltip=None),
        alt.Chart().mark_point(filled=True, size=80, opacity=0, tooltip=pointed(names, x.title, y.title)),
    ]
    owners = [names.index(name) if name in names else -1 for name in marks]
    rows = [{"x": x, "value": y, "mark": i, "owner": owners[i]} for i, (x, y) in enumerate(marks.values())]
    layers += [each.properties(data=alt.InlineData(rows, name="marks")) for each in _marks(x.title, y.title)]
    up = {"domain": y.domain} if y.domain else {"zero": False}
    return alt.LayerChart(layer=layers).encode(
        across(x, nice=False, **across_by), upward(y.title, **up), told_apart(names)
    )


def _marks(x_title: str, y_title: str) -> tuple[alt.Chart, alt.Chart]:
    """A large point for each mark; a mark that is on no line has its name beside it, on the side with more room."""
    lines = {"Mark": "mark_labels[datum.mark]", x_title: number("x"), y_title: number("value")}
    own = [{"test": f"datum.owner === {i}", "value": line} for i, line in enumerate(colour.lines())]
    shape = alt.Shape("mark:N", legend=None, scale=alt.Scale(range=["circle", "diamond", "square"]))
    points = alt.Chart().mark_point(filled=True, size=130, opacity=1, tooltip=tooltip(lines))
    left = "scale('x', datum.x) > width / 2"
    align, shift = alt.ExprRef(f"{left} ? 'right' : 'left'"), alt.ExprRef(f"{left} ? -6 : 6")
    label = alt.TextValue(alt.ExprRef("mark_labels[datum.mark]"))
    named = (
        alt.Chart()
        .transform_filter("datum.owner < 0")
        .mark_text(fontSize=12, fontWeight="bold", align=align, baseline="bottom", dx=shift, dy=-8, aria=False)
    )
    return (
        points.encode(alt.ColorValue(colour.INK, condition=own), shape),
        named.encode(alt.ColorValue(colour.INK), label),
    )


def _table(figure: Figure, places: NDArray[np.float32], marks: Sequence[str]) -> pd.DataFrame:
    """Return the lines' table, then a row for each mark in a column of its own."""
    whole = figure.table()
    columns = unique_names([*whole.columns, *marks])[len(whole.columns) :]
    extra = [
        pd.DataFrame({whole.columns[0]: [place[0]], name: [place[1]]})
        for name, place in zip(columns, places, strict=True)
    ]
    return pd.concat([whole, *extra], ignore_index=True)
