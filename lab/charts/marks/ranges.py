"""A number of each of several things with its interval, and what it is compared with, on one line a thing."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Scale
from lab.charts.base.figure import (
    Figure,
    axis_text,
    base,
    check_format,
    check_labels,
    checked_domain,
    label_extent,
    names,
    numbers,
    quoted,
)
from lab.charts.base.tables import table

_SHAPES = ("circle", "square", "stroke", "triangle-up", "diamond")


def ranges(
    labels: Sequence[str],
    points: Mapping[str, ArrayLike],
    interval: tuple[ArrayLike, ArrayLike],
    scale: Scale,
    *,
    title: str,
) -> Figure:
    """Draw `points`, up to five series of (things,), each thing on a line of its own from the first label down.

    `interval` is low and high, (things,), of the first series. The series differ in shape as well as in colour.

    Raises
    ------
    ValueError
        NaN, infinity, lengths that differ, more than five series, or a scale without a domain.
    """
    check_format(scale.format, of="ranges")
    arrays = {name: numbers(values, ("things",), of=f"ranges, “{name}”") for name, values in points.items()}
    ends = [numbers(values, ("things",), of="ranges, interval") for values in interval]
    if not 0 < len(arrays) <= len(_SHAPES) or scale.domain is None:
        raise ValueError(f"ranges: one to {len(_SHAPES)} series on a stated domain, got {len(arrays)}.")
    for array in (*arrays.values(), *ends):
        check_labels(len(array), labels, of="ranges", what="values")
    spec = base(title, 30 * len(labels) + 10)
    spec["params"] += [names("labels", labels), names("series", list(arrays))]
    spec["encoding"] = {"y": _lines(labels), "x": _values(scale)}
    rule = {"type": "rule", "strokeWidth": 5, "opacity": 0.35, "color": colour.lines()[0], "tooltip": None}
    spec["layer"] = [
        {
            "transform": [{"filter": "datum.line === 0"}],
            "mark": rule | {"aria": False},
            "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}},
        },
        {"mark": _point(scale), "encoding": _told_apart(len(arrays))},
    ]
    shown = [*arrays.values(), *ends]
    first = next(iter(arrays))
    columns = [*arrays, f"{first}, low", f"{first}, high"]
    told = partial(table, np.stack(shown, axis=1), labels, columns)
    return Figure(spec, _data(arrays, ends), 720, _words(arrays, labels, scale), told)


def _lines(labels: Sequence[str]) -> dict[str, Any]:
    extent = label_extent(labels, 12)
    axis = axis_text() | {"labelExpr": "labels[datum.value]", "labelLimit": extent, "labelOverlap": False}
    axis |= {"grid": True, "gridOpacity": 0.35, "minExtent": extent + 5, "maxExtent": extent + 5}
    scale = {"domain": list(range(len(labels)))}
    return {"field": "i", "type": "ordinal", "title": None, "scale": scale, "axis": axis}


def _values(scale: Scale) -> dict[str, Any]:
    assert scale.domain is not None
    axis = axis_text() | {"tickCount": 5, "grid": True, "gridOpacity": 0.5, "format": ".0%"}
    ends = {"domain": list(checked_domain(scale.domain, of="ranges")), "nice": False, "clamp": True}
    return {"field": "value", "type": "quantitative", "title": scale.title, "scale": ends, "axis": axis}


def _point(scale: Scale) -> dict[str, Any]:
    shown = {"Label": "labels[datum.i]", "What": "series[datum.line]", scale.title: "format(datum.value, '.6~g')"}
    interval = "datum.line === 0 ? format(datum.low, '.3f') + ' to ' + format(datum.high, '.3f') : ''"
    tooltip = "{" + ", ".join(f"{quoted(name)}: {said}" for name, said in (shown | {"95 %": interval}).items()) + "}"
    spoken = " + ': ' + ".join(f"({said})" for said in shown.values())
    return {
        "type": "point",
        "filled": False,
        "size": 90,
        "strokeWidth": 2.5,
        "opacity": 1,
        "tooltip": {"expr": tooltip},
        "description": {"expr": spoken},
    }


def _told_apart(count: int) -> dict[str, Any]:
    legend = {
        "title": None,
        "orient": "bottom",
        "labelExpr": "series[datum.value]",
        "labelColor": colour.SOFT_INK,
        "columns": 2,
        "offset": 6,
        "padding": 0,
        "symbolStrokeWidth": 2.5,
        "labelLimit": 260,
    }
    domain = list(range(count))
    field = {"field": "line", "type": "nominal", "legend": legend}
    return {
        "color": field | {"scale": {"domain": domain, "range": colour.lines()[:count]}},
        "shape": field | {"scale": {"domain": domain, "range": list(_SHAPES[:count])}},
    }


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
    """The first series' largest value beside what the others have there."""
    first, values = next(iter(arrays.items()))
    at = int(values.argmax())
    there = ", ".join(f"{name} {format(float(array[at]), scale.format)}" for name, array in arrays.items())
    return f"{len(labels)} lines of {len(arrays)} points. “{first}” is largest for {labels[at]}: {there}."
