"""Draw series as lines, such as a loss during training; a few points may be marked, such as a head's value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import AxisPlaces, Scale, describe_lines
from lab.charts.base.chart_table import unique_names
from lab.charts.base.figure import CANVAS_ABOVE, Figure, base, numbers
from lab.charts.base.plain import legend_below, number, quiet_axis, ruled_axis, specification, tooltip

_FEW = 3  # places that all get a tick


def lines(series: Mapping[str, ArrayLike], x: AxisPlaces, y: Scale, *, title: str, log: bool = False) -> Figure:
    """Draw one line for each of `series`, (points,) each.

    At most six lines. The series may differ in length, as in a run that has not ended: each line uses the first places.
    With `log` the vertical axis is logarithmic, and all values must be above 0.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    up = {"type": "log"} if log else {"domain": y.domain} if y.domain else {"zero": False}
    return line_figure(series, x, y, title, partial(_chart, list(series), x, y.title, up))


def line_figure(
    series: Mapping[str, ArrayLike],
    x: AxisPlaces,
    y: Scale,
    title: str,
    draw: Callable[[], alt.LayerChart],
    **texts: Sequence[str],
) -> Figure:
    """Return the figure of `series` as `draw` draws them; `draw` finds their names and `texts` in parameters."""
    arrays = {name: numbers(line, ("points",), of=f"lines, “{name}”") for name, line in series.items()}
    longest = max(array.size for array in arrays.values())
    places = np.arange(1.0, longest + 1) if x.at is None else np.asarray(x.at, dtype=np.float64)
    data = _data(arrays, places)
    frame = base(title, 240, canvas=len(data) > CANVAS_ABOVE**2, texts={"labels": list(arrays), **texts})
    told = describe_lines(arrays, value_format=y.format)
    return Figure(specification(frame, draw), data, "stretch", told, partial(_table, arrays, places, x.title))


def settled(figure: Figure) -> Figure:
    """Return a chart of :func:`lines` that will not grow, with the extent of both axes stated.

    Vega asks for the extent before Streamlit has handed over the data, and warns of an infinite one if it is not
    stated.
    """
    encoding = dict(figure.spec["encoding"])
    for channel, field, nice in (("x", "x", False), ("y", "value", True)):
        scale, values = encoding[channel]["scale"], figure.data[field]
        if "domain" not in scale and len(values):
            stated = scale | {"domain": [float(values.min()), float(values.max())], "nice": nice}
            encoding[channel] = encoding[channel] | {"scale": stated}
    return replace(figure, spec={**figure.spec, "encoding": encoding})


def _chart(names: Sequence[str], x: AxisPlaces, y_title: str, up: Mapping[str, Any]) -> alt.LayerChart:
    """Draw the lines, with points on the lines that answer the pointer."""
    lines = alt.Chart().mark_line(strokeWidth=2, tooltip=None)
    points = alt.Chart().mark_point(filled=True, size=30, tooltip=pointed(names, x.title, y_title))
    return alt.LayerChart(layer=[lines, points]).encode(
        across(x, zero=False, nice=False), upward(y_title, **up), told_apart(names)
    )


def across(x: AxisPlaces, **scale: Any) -> alt.X:
    """Return the axis of the places; between the numbers 1, 2, 3 …, or between two or three places, it has no ticks."""
    whole: dict[str, Any] = {"tickMinStep": 1} if x.at is None else {}
    if x.at is not None and len(x.at) <= _FEW:
        whole = {"values": list(x.at), "format": "~g"}
    return alt.X("x:Q", title=x.title, scale=alt.Scale(**scale), axis=quiet_axis(tickCount=5, **whole))


def upward(title: str, field: str = "value", **scale: Any) -> alt.Y:
    """Return the axis of the values, which are in this `field`."""
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(**scale), axis=ruled_axis(5))


def told_apart(labels: Sequence[str]) -> alt.Color:
    """Encode colour by the index of a series; with two or more series, a legend looks the names up."""
    count = len(labels)
    scale = alt.Scale(domain=list(range(count)), range=colour.lines()[:count])
    if count == 1:
        return alt.Color("line:N", scale=scale, legend=None)
    legend = legend_below("labels", labels, 3, symbolType="stroke", symbolStrokeWidth=3)
    return alt.Color("line:N", scale=scale, legend=legend)


def pointed(names: Sequence[str], x_title: str, y_title: str) -> alt.ExprRef:
    """Return the tooltip at a point: the line's name, if there are several, the value and the place."""
    line = {"Line": "labels[datum.line]"} if len(names) > 1 else {}
    return tooltip({**line, y_title: number("value"), x_title: "datum.x"})


def _data(arrays: Mapping[str, NDArray[np.float32]], places: NDArray[np.float64]) -> pd.DataFrame:
    lengths = [array.size for array in arrays.values()]
    return pd.DataFrame(
        {
            "line": np.repeat(np.arange(len(arrays), dtype=np.int16), lengths),
            "x": np.concatenate([places[:length] for length in lengths]),
            "value": np.concatenate(list(arrays.values())),
        }
    )


def _table(arrays: Mapping[str, NDArray[np.float32]], places: NDArray[np.float64], x_title: str) -> pd.DataFrame:
    """One column for each line; cells after a line's end are empty."""
    names = unique_names([x_title, *arrays])
    columns = {name: pd.Series(array) for name, array in zip(names[1:], arrays.values(), strict=True)}
    longest = max(array.size for array in arrays.values())
    return pd.DataFrame({names[0]: places[:longest], **columns})


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
    draw = partial(_marked_chart, list(series), at_marks, (x, y), across_by)
    figure = line_figure(series, x, y, title, draw, mark_labels=list(marks))
    told = "; ".join(
        f"{name} at {x.title.lower()} {place[0]:g}: {format(float(place[1]), y.format)}"
        for name, place in zip(marks, places, strict=True)
    )
    made = partial(_marked_table, figure, places, list(marks))
    return replace(figure, alt=f"{figure.alt} Marked: {told}.", table=made)


def _marked_chart(
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


def _marked_table(figure: Figure, places: NDArray[np.float32], marks: Sequence[str]) -> pd.DataFrame:
    """Return the lines' table, then a row for each mark in a column of its own."""
    whole = figure.table()
    columns = unique_names([*whole.columns, *marks])[len(whole.columns) :]
    extra = [
        pd.DataFrame({whole.columns[0]: [place[0]], name: [place[1]]})
        for name, place in zip(columns, places, strict=True)
    ]
    return pd.concat([whole, *extra], ignore_index=True)
