"""Draw series as lines, such as a loss during training, or a metric from layer to layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.chart_table import unique_names
from lab.charts.base.describe import describe_lines
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
