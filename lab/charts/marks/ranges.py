"""One line per thing: a number with its interval and numbers to compare it with, or many faint dots and one marked."""

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
from lab.charts.base.plain import (
    dashed_rule,
    label_axis,
    legend_below,
    number,
    of_kind,
    ruled_axis,
    specification,
    spoken,
    tooltip,
)

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


_EACH, _CHOSEN = 0, 1
_ROW, _AXES = 38, 10  # pixels


def dots(
    values: ArrayLike,
    names: tuple[Sequence[str], Sequence[str]],
    scale: Scale,
    *,
    title: str,
    highlight: int,
    rule: float | None = None,
) -> Figure:
    """Draw `values` (things, many): a line for each of the things, on it a dot for each of the many.

    `names` are the names of the things and of the many. The dot with the number `highlight` (from 0) is large on every
    line; `rule` is an upright dashed line to compare with.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    labels, many = names
    array = numbers(values, ("things", "many"), of="dots")
    frame = base(title, _ROW * len(labels) + _AXES, texts={"labels": labels, "names": many})
    spec = specification(frame, _dots_chart, labels, scale, scale.limits(array), rule)
    told = _dots_words(array, labels, many[highlight], scale, highlight)
    return Figure(spec, _dots_data(array, highlight), 720, told, partial(table, array, labels, many))


def _dots_chart(labels: Sequence[str], scale: Scale, limits: Domain, rule: float | None) -> alt.LayerChart:
    """Draw the line at `rule`, the faint dots, and the marked dots over the faint ones."""
    lines = tooltip({"Label": "labels[datum.i]", "What": "names[datum.of]", scale.title: number("value")})
    faint = of_kind(_EACH).mark_point(
        filled=True, size=60, opacity=0.3, color=colour.POSITIVE, tooltip=lines, aria=False
    )
    marked = of_kind(_CHOSEN).mark_point(
        filled=True, size=190, opacity=1, color=colour.NEGATIVE, tooltip=lines, aria=False
    )
    layers = [faint, marked]
    if rule is not None:
        layers.insert(0, dashed_rule(colour.SOFT_INK).encode(alt.XDatum(rule, type="quantitative")))
    down = alt.Y(
        "i:O",
        title=None,
        scale=alt.Scale(domain=list(range(len(labels)))),
        axis=label_axis(labels, grid=True, gridOpacity=0.35),
    )
    across = alt.X(
        "value:Q",
        title=scale.title,
        scale=alt.Scale(domain=limits, nice=False, clamp=True),
        axis=ruled_axis(5, format=scale.format),
    )
    return alt.LayerChart(layer=layers).encode(down, across)


def _dots_data(array: NDArray[np.float32], highlight: int) -> pd.DataFrame:
    things, many = array.shape
    own = np.tile(np.arange(many, dtype=np.int32), things)
    return pd.DataFrame(
        {
            "kind": np.where(own == highlight, _CHOSEN, _EACH).astype(np.int8),
            "i": np.repeat(np.arange(things, dtype=np.int16), many),
            "of": own,
            "value": array.ravel(),
        }
    )


def _dots_words(array: NDArray[np.float32], labels: Sequence[str], name: str, scale: Scale, highlight: int) -> str:
    """Return the marked number of each line beside the range of the others."""
    others = np.delete(array, highlight, axis=1)
    told = [
        f"{label}: {format(float(row[highlight]), scale.format)}"
        + (
            f", the others {format(float(rest.min()), scale.format)} to {format(float(rest.max()), scale.format)}"
            if rest.size
            else ""
        )
        for label, row, rest in zip(labels, array, others, strict=True)
    ]
    return f"{len(labels)} lines of {array.shape[1]} dots. Marked: {name}. {'; '.join(told)}."
