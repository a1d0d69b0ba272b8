"""Values as bars: a row of attention, the most likely tokens, the products of a dot product."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Scale
from lab.charts.base.describe import describe_bars
from lab.charts.base.figure import (
    CANVAS_ABOVE,
    Figure,
    axis_text,
    base,
    check_format,
    check_index,
    check_labels,
    checked_domain,
    label_extent,
    names,
    numbers,
    quoted,
    ticks,
    written,
)
from lab.charts.base.tables import table

_PLACE = [
    {"window": [{"op": "row_number", "as": "place"}]},
    {"calculate": "datum.place - 1", "as": "i"},
]
_SIGN = {"condition": {"test": "datum.value < 0", "value": colour.NEGATIVE}, "value": colour.POSITIVE}
_FADE = {"condition": {"test": "datum.chosen", "value": 1}, "value": 0.45}
_NUMBER = 52  # pixels for a number at a bar's end


def bars(
    labels: Sequence[str],
    values: ArrayLike,
    scale: Scale,
    *,
    title: str,
    highlight: int | Sequence[int] | None = None,
    reference: float | None = None,
) -> Figure:
    """Draw `values` (bars,) as horizontal bars from the first label down, the number at each bar's end.

    Labels may repeat. Negative bars point left, in the other colour. `highlight` (from 0) keeps one bar, or
    several, in full colour. The scale's domain, e.g. (0, 1) for probabilities, must hold 0. `reference` is a
    dashed line to compare the bars with.

    Raises
    ------
    ValueError
        NaN, infinity, a wrong number of labels, or a highlight, domain or format that cannot be.
    """
    array = _values(values, highlight, scale, of="bars")
    check_labels(len(array), labels, of="bars", what="values")
    reach = array if reference is None else numbers([*array, reference], ("values",), of="bars")
    spec = base(title, 24 * len(array) + 8)
    spec["params"].append(names("labels", labels))
    spec["transform"] = _PLACE
    spec["encoding"] = {"y": _label_axis(labels)}
    spec["layer"] = [
        _bar_layer("x", _value_axis(reach, scale), {"Label": "labels[datum.i]"}, scale.title),
        *_numbers_at_ends(array, scale.format),
        _zero("x"),
    ]
    if reference is not None:
        spec["layer"].append(_dashed(reference))
    alt = describe_bars(array, labels, value_format=scale.format)
    if reference is not None:
        alt += f" Dashed line at {format(reference, scale.format)}."
    return Figure(spec, _data(array, highlight), 640, alt, partial(table, array[:, None], labels, [scale.title]))


def columns(
    values: ArrayLike, scale: Scale, *, title: str, index_title: str = "Dimension", highlight: int | None = None
) -> Figure:
    """Draw `values` (columns,) as thin upright bars over 1, 2 … n, such as the 64 products of q · k.

    Options and errors are those of `bars`.
    """
    array = _values(values, highlight, scale, of="columns")
    spec = base(title, 200, canvas=len(array) > CANVAS_ABOVE**2)
    axis = axis_text() | {"labelExpr": "datum.value + 1", "values": ticks(len(array)), "labelAngle": 0}
    x = {"field": "i", "type": "ordinal", "title": index_title, "axis": axis}
    bands = {"domain": list(range(len(array))), "paddingInner": 0.15 if len(array) <= 128 else 0, "paddingOuter": 0}
    spec["transform"] = _PLACE
    spec["encoding"] = {"x": x | {"scale": bands}}
    y = {"field": "value", "type": "quantitative", "title": scale.title, "axis": _quiet_axis()}
    if scale.domain is not None:
        y["scale"] = {"domain": list(scale.domain)}
    spec["layer"] = [_bar_layer("y", y, {index_title: "datum.i + 1"}, scale.title), _zero("y")]
    indices = [str(index + 1) for index in range(len(array))]
    alt = describe_bars(array, indices, value_format=scale.format, kind="Columns")
    return Figure(spec, _data(array, highlight), "stretch", alt, partial(table, array[:, None], indices, [scale.title]))


def _values(values: ArrayLike, highlight: int | Sequence[int] | None, scale: Scale, *, of: str) -> NDArray[np.float32]:
    array = numbers(values, ("values",), of=of)
    for index in _several(highlight):
        check_index(index, len(array), of=of, what="value")
    check_format(scale.format, of=of)
    if scale.domain is not None:
        low, high = checked_domain(scale.domain, of=of)
        if not low <= 0 <= high:
            raise ValueError(f"{of}: bars start at 0, so the domain ({low}, {high}) must hold it.")
    return array


def _several(highlight: int | Sequence[int] | None) -> Sequence[int]:
    return () if highlight is None else (highlight,) if isinstance(highlight, int) else highlight


def _data(array: NDArray[np.float32], highlight: int | Sequence[int] | None) -> pd.DataFrame:
    chosen = np.full(len(array), highlight is None)
    chosen[list(_several(highlight))] = True
    return pd.DataFrame({"value": array, "chosen": chosen})


def _label_axis(labels: Sequence[str]) -> dict[str, Any]:
    extent = label_extent(labels, 12)
    axis = axis_text() | {"labelExpr": "labels[datum.value]", "labelLimit": extent, "labelOverlap": False}
    return {
        "field": "i",
        "type": "ordinal",
        "title": None,
        "scale": {"domain": list(range(len(labels))), "paddingInner": 0.25, "paddingOuter": 0.1},
        "axis": axis | {"orient": "left", "minExtent": extent + 5, "maxExtent": extent + 5},
    }


def _quiet_axis() -> dict[str, Any]:
    return axis_text() | {"tickCount": 4, "grid": True, "gridOpacity": 0.5}


def _value_axis(array: NDArray[np.float32], scale: Scale) -> dict[str, Any]:
    """The values' axis, with room beyond the longest bars for their numbers, in pixels."""
    low, high = scale.domain or (min(0.0, float(array.min())), max(0.0, float(array.max())))
    if low == high:
        high = 1.0
    left, right = _NUMBER if low < 0 else 0, _NUMBER if high > 0 else 0
    room = [left, {"expr": f"width - {right}"}]
    ends = {"domain": [low, high], "range": room, "nice": False, "clamp": True}
    return {"field": "value", "type": "quantitative", "title": scale.title, "scale": ends, "axis": _quiet_axis()}


def _bar_layer(channel: str, value: dict[str, Any], words: dict[str, str], value_title: str) -> dict[str, Any]:
    """The bars along `channel`; `words` are the tooltip's lines before the value, as expressions."""
    shown = {**words, value_title: "format(datum.value, '.6~g')"}
    tooltip = "{" + ", ".join(f"{quoted(name)}: {expression}" for name, expression in shown.items()) + "}"
    spoken = " + ': ' + ".join(f"({expression})" for expression in shown.values())
    mark = {"type": "bar", "tooltip": {"expr": tooltip}, "description": {"expr": spoken}}
    encoding = {channel: value | {"stack": None}, "color": _SIGN, "opacity": _FADE}
    return {"mark": mark, "encoding": encoding}


def _numbers_at_ends(array: NDArray[np.float32], value_format: str) -> list[dict[str, Any]]:
    """The value beyond each bar's end: right of positive bars, left of negative ones."""
    text = {"value": {"expr": written(value_format)}}
    layers = []
    for sign, align, shift in ((">= 0", "left", 5), ("< 0", "right", -5)):
        if sign == "< 0" and array.min() >= 0:
            continue
        mark = {"type": "text", "align": align, "dx": shift, "color": colour.INK, "fontSize": 12, "aria": False}
        encoding = {"x": {"field": "value", "type": "quantitative"}, "text": text}
        layers.append({"transform": [{"filter": f"datum.value {sign}"}], "mark": mark, "encoding": encoding})
    return layers


def _dashed(reference: float) -> dict[str, Any]:
    """The line that bars are compared with, from top to bottom."""
    mark = {"type": "rule", "color": colour.INK, "strokeWidth": 1.5, "strokeDash": [5, 4], "aria": False}
    encoding = {"x": {"datum": reference, "type": "quantitative"}, "y": {"value": 0}, "y2": {"value": "height"}}
    return {"mark": mark | {"tooltip": None}, "encoding": encoding}


def _zero(channel: str) -> dict[str, Any]:
    mark = {"type": "rule", "color": colour.SOFT_INK, "strokeWidth": 1, "aria": False, "tooltip": None}
    other = "y" if channel == "x" else "x"
    encoding = {channel: {"datum": 0, "type": "quantitative"}, other: {"value": 0}}
    return {"mark": mark, "encoding": encoding | {f"{other}2": {"value": "height" if other == "y" else "width"}}}
