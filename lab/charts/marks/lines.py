"""Series as lines: a loss while training, a metric from layer to layer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.describe import describe_lines
from lab.charts.base.figure import (
    CANVAS_ABOVE,
    Figure,
    axis_text,
    base,
    check_format,
    checked_domain,
    names,
    numbers,
    quoted,
)
from lab.charts.base.tables import unique_names


def lines(series: Mapping[str, ArrayLike], x: AxisPlaces, y: Scale, *, title: str, log: bool = False) -> Figure:
    """Draw one line for each of `series`, (points,) each.

    Lines may differ in length (a run that goes on): each takes the first of the places. Up to six. With `log`
    equal distances up are equal factors.

    Raises
    ------
    ValueError
        No series or more than six, more points than places, NaN or infinity, with `log` a value not above 0.
    """
    check_format(y.format, of="lines")
    arrays = {name: numbers(line, ("points",), of=f"lines, “{name}”") for name, line in series.items()}
    if not 0 < len(arrays) <= len(colour.lines()):
        raise ValueError(f"lines: one to {len(colour.lines())} lines can be told apart, got {len(arrays)}.")
    places = _places(arrays, x.at)
    spec = base(title, 240, canvas=sum(array.size for array in arrays.values()) > CANVAS_ABOVE**2)
    spec["params"].append(names("labels", list(arrays)))
    axis = axis_text() | {"tickCount": 5} | ({"tickMinStep": 1} if x.at is None else {})
    scale: dict[str, Any] = {"domain": list(checked_domain(y.domain, of="lines"))} if y.domain else {"zero": False}
    if log:
        if any((array <= 0).any() for array in arrays.values()):
            raise ValueError("lines: a log scale needs values above 0.")
        scale = {"type": "log"}
    spec["encoding"] = {
        "x": _quantity("x", x.title, {"zero": False, "nice": False}, axis),
        "y": _quantity("value", y.title, scale, axis_text() | {"tickCount": 5, "grid": True, "gridOpacity": 0.5}),
        "color": _told_apart(list(arrays)),
    }
    tooltip = f"{{{quoted(y.title)}: format(datum.value, '.6~g'), {quoted(x.title)}: datum.x}}"
    if len(arrays) > 1:
        tooltip = f"{{'Line': labels[datum.line], {tooltip[1:]}"
    spec["layer"] = [
        {"mark": {"type": "line", "strokeWidth": 2, "tooltip": None}},
        {"mark": {"type": "point", "filled": True, "size": 30, "tooltip": {"expr": tooltip}}},
    ]
    alt = describe_lines(arrays, value_format=y.format)
    return Figure(spec, _data(arrays, places), "stretch", alt, partial(_table, arrays, places, x.title))


def settled(figure: Figure) -> Figure:
    """A chart of :func:`lines` that will not grow, with the extent of both axes written down.

    Vega asks for it before Streamlit has handed over the data, and warns of an infinite one where it is not stated.
    """
    encoding = dict(figure.spec["encoding"])
    for channel, field, nice in (("x", "x", False), ("y", "value", True)):
        scale, values = encoding[channel]["scale"], figure.data[field]
        if "domain" not in scale and len(values):
            stated = scale | {"domain": [float(values.min()), float(values.max())], "nice": nice}
            encoding[channel] = encoding[channel] | {"scale": stated}
    return replace(figure, spec={**figure.spec, "encoding": encoding})


def _quantity(field: str, title: str, scale: dict[str, Any], axis: dict[str, Any]) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _places(arrays: Mapping[str, NDArray[np.float32]], x: Sequence[float] | None) -> NDArray[np.float64]:
    longest = max(array.size for array in arrays.values())
    places = np.arange(1, longest + 1, dtype=np.float64) if x is None else np.asarray(x, dtype=np.float64)
    if places.ndim != 1 or places.size < longest or not np.isfinite(places).all():
        raise ValueError(f"lines: the longest line has {longest} points, so `x` needs as many finite numbers.")
    return places


def _told_apart(labels: Sequence[str]) -> dict[str, Any]:
    """Colour by series index; the legend, for two or more, looks the names up."""
    count, widest = len(labels), 28 + 6 * max(map(len, labels))
    legend = {
        "title": None,
        "orient": "bottom",
        "labelExpr": "labels[datum.value]",
        "labelColor": colour.SOFT_INK,
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
        # As many beside each other as the width of the page takes.
        "columns": {"expr": f"clamp(floor(width / {widest}), 1, 3)"},
        "offset": 6,
        "padding": 0,
    }
    scale = {"domain": list(range(count)), "range": colour.lines()[:count]}
    return {"field": "line", "type": "nominal", "scale": scale, "legend": legend if count > 1 else None}


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
    """One column a line; where a line has ended, nothing."""
    names = unique_names([x_title, *arrays])
    columns = {name: pd.Series(array) for name, array in zip(names[1:], arrays.values(), strict=True)}
    longest = max(array.size for array in arrays.values())
    return pd.DataFrame({names[0]: places[:longest], **columns})
