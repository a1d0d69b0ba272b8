"""Draw a number with its interval for each of several things, and numbers to compare it with, one line per thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import Domain, Scale
from lab.charts.base.chart_table import table
from lab.charts.base.figure import Figure, base, numbers
from lab.charts.base.plain import label_axis, legend_below, number, ruled_axis, specification, spoken, tooltip

_SHAPES = ("circle", "square", "stroke", "triangle-up", "diamond", "cross")


def ranges(
    labels: Sequence[str],
    points: Mapping[str, ArrayLike],
    interval: tuple[ArrayLike, ArrayLike],
    scale: Scale,
    *,
    title: str,
) -> Figure:
    """Draw `points`, up to six series of (things,), each thing on a line of its own from the first label down.

    `interval` is (low, high), each (things,), for the first series. The series differ in shape as well as in colour.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    arrays = {name: numbers(values, ("things",), of=f"ranges, “{name}”") for name, values in points.items()}
    ends = [numbers(values, ("things",), of="ranges, interval") for values in interval]
    shown = np.stack([*arrays.values(), *ends], axis=1)
    frame = base(title, 30 * len(labels) + 10, texts={"labels": labels, "series": list(arrays)})
    spec = specification(frame, _chart, labels, list(arrays), scale.title, scale.limits(shown))
    first = next(iter(arrays))
    columns = [*arrays, f"{first}, low", f"{first}, high"]
    told = partial(table, shown, labels, columns)
    return Figure(spec, _data(arrays, ends), 720, _words(arrays, labels, scale), told)


def _chart(labels: Sequence[str], series: Sequence[str], value_title: str, limits: Domain) -> alt.LayerChart:
    """Return the intervals of the first series, and the points of all series."""
    interval = alt.Chart().transform_filter("datum.line === 0")
    interval = interval.mark_rule(strokeWidth=5, opacity=0.35, color=colour.lines()[0], tooltip=None, aria=False)
    layers = interval.encode(alt.X("low:Q"), alt.X2("high")), _points(series, value_title)
    down = alt.Y(
        "i:O",
        title=None,
        scale=alt.Scale(domain=list(range(len(labels)))),
        axis=label_axis(labels, grid=True, gridOpacity=0.35),
    )
    ends = alt.Scale(domain=limits, nice=False, clamp=True)
    across = alt.X("value:Q", title=value_title, scale=ends, axis=ruled_axis(5, format=".0%"))
    return alt.LayerChart(layer=layers).encode(down, across)


def _points(series: Sequence[str], value_title: str) -> alt.Chart:
    """Draw a hollow sign for each number; the series differ in colour and shape."""
    lines = {"Label": "labels[datum.i]", "What": "series[datum.line]", value_title: number("value")}
    interval = "datum.line === 0 ? format(datum.low, '.3f') + ' to ' + format(datum.high, '.3f') : ''"
    points = alt.Chart().mark_point(
        filled=False,
        size=90,
        strokeWidth=2.5,
        opacity=1,
        tooltip=tooltip(lines | {"95 %": interval}),
        description=spoken(lines),
    )
    legend = legend_below("series", series, 2, symbolStrokeWidth=2.5)
    count = len(series)
    places = list(range(count))
    return points.encode(
        alt.Color("line:N", legend=legend, scale=alt.Scale(domain=places, range=colour.lines()[:count])),
        alt.Shape("line:N", legend=legend, scale=alt.Scale(domain=places, range=_SHAPES[:count])),
    )


def _data(arrays: Mapping[str, NDArray[np.float32]], ends: Sequence[NDArray[np.float32]]) -> pd.DataFrame:
    things, series = len(ends[0]), len(arrays)
    return pd.DataFrame(
        {
            "i": np.tile(np.arange(things, dtype=np.int16), series),
            "line": np.repeat(np.arange(series, dtype=np.int16), things),
            "value": np.concatenate(list(arrays.values())),
            "low": np.tile(ends[0], series),
            "high": np.tile(ends[1], series),
        }
    )


def _words(arrays: Mapping[str, NDArray[np.float32]], labels: Sequence[str], scale: Scale) -> str:
    """Return the first series' largest value beside the values of the other series there."""
    first, values = next(iter(arrays.items()))
    at = int(values.argmax())
    there = ", ".join(f"{name} {format(float(array[at]), scale.format)}" for name, array in arrays.items())
    return f"{len(labels)} lines of {len(arrays)} points. “{first}” is largest for {labels[at]}: {there}."
