"""Draw values as bars, such as a row of attention, the most likely tokens, or the products of a dot product."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import Domain, Scale, describe_bars
from lab.charts.base.chart_table import table
from lab.charts.base.figure import CANVAS_ABOVE, Figure, base, check_labels, numbers, ticks, written
from lab.charts.base.plain import (
    dashed_rule,
    label_axis,
    number,
    quiet_axis,
    ruled_axis,
    specification,
    spoken,
    tooltip,
)

_NUMBER = 52  # pixels: room for a number at a bar's end


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
    several, in full colour. The scale's domain, e.g. (0, 1) for probabilities, contains 0. `reference` is a
    dashed line to compare the bars with.

    Raises
    ------
    ValueError
        NaN, infinity, or a wrong number of labels.
    """
    array = numbers(values, ("values",), of="bars")
    check_labels(len(array), labels, of="bars", what="values")
    reach = array if reference is None else numbers([*array, reference], ("values",), of="bars")
    frame = base(title, 24 * len(array) + 8, texts={"labels": labels})
    spec = specification(frame, _horizontal, labels, scale, _ends(reach, scale), reference)
    told = describe_bars(array, labels, value_format=scale.format)
    if reference is not None:
        told += f" Dashed line at {format(reference, scale.format)}."
    return Figure(spec, _data(array, highlight), 640, told, partial(table, array[:, None], labels, [scale.title]))


def columns(
    values: ArrayLike, scale: Scale, *, title: str, index_title: str = "Dimension", highlight: int | None = None
) -> Figure:
    """Draw `values` (columns,) as thin upright bars over 1, 2 … n, such as the 64 products of q · k.

    Options and errors are the same as in `bars`.
    """
    array = numbers(values, ("values",), of="columns")
    frame = base(title, 200, canvas=len(array) > CANVAS_ABOVE**2)
    spec = specification(frame, _upright, len(array), scale, index_title)
    indices = [str(index + 1) for index in range(len(array))]
    told = describe_bars(array, indices, value_format=scale.format, kind="Columns")
    made = partial(table, array[:, None], indices, [scale.title])
    return Figure(spec, _data(array, highlight), "stretch", told, made)


def _data(array: NDArray[np.float32], highlight: int | Sequence[int] | None) -> pd.DataFrame:
    chosen = np.full(len(array), highlight is None)
    if highlight is not None:
        chosen[highlight if isinstance(highlight, int) else list(highlight)] = True
    return pd.DataFrame({"i": np.arange(len(array), dtype=np.int32), "value": array, "chosen": chosen})


def _ends(array: NDArray[np.float32], scale: Scale) -> Domain:
    """Return the ends of the values' axis, which contains 0 and all values."""
    low, high = scale.domain or (min(0.0, float(array.min())), max(0.0, float(array.max())))
    return low, 1.0 if low == high else high


def _horizontal(labels: Sequence[str], scale: Scale, ends: Domain, reference: float | None) -> alt.LayerChart:
    """Return the chart of `bars`, drawn in this order: bars, numbers, a line at 0 and one at `reference`."""
    places = alt.Scale(domain=list(range(len(labels))), paddingInner=0.25, paddingOuter=0.1)
    down = alt.Y("i:O", title=None, scale=places, axis=label_axis(labels, orient="left"))
    layers = [
        _bar({"Label": "labels[datum.i]", scale.title: number("value")}).encode(_along(ends, scale)),
        _numbers_at_ends(scale.format),
        _zero().encode(alt.XDatum(0, type="quantitative"), alt.YValue(0), alt.Y2Value("height")),
    ]
    if reference is not None:
        layers.append(dashed_rule(colour.INK).encode(alt.XDatum(reference, type="quantitative")))
    return alt.LayerChart(layer=layers).encode(down)


def _along(ends: Domain, scale: Scale) -> alt.X:
    """Return the values' axis, with room beyond the longest bars for their numbers, in pixels."""
    left, right = _NUMBER if ends[0] < 0 else 0, _NUMBER if ends[1] > 0 else 0
    drawn = alt.Scale(domain=ends, range=[left, {"expr": f"width - {right}"}], nice=False, clamp=True)
    return alt.X("value:Q", title=scale.title, stack=None, scale=drawn, axis=ruled_axis(4))


def _upright(count: int, scale: Scale, index_title: str) -> alt.LayerChart:
    """Return the chart of `columns`."""
    places = alt.Scale(domain=list(range(count)), paddingInner=0.15 if count <= 128 else 0, paddingOuter=0)
    axis = quiet_axis(labelExpr="datum.value + 1", values=ticks(count), labelAngle=0)
    up = alt.Y("value:Q", title=scale.title, stack=None, axis=ruled_axis(4))
    if scale.domain is not None:
        up = up.scale(domain=scale.domain)
    layers = [
        _bar({index_title: "datum.i + 1", scale.title: number("value")}).encode(up),
        _zero().encode(alt.YDatum(0, type="quantitative"), alt.XValue(0), alt.X2Value("width")),
    ]
    return alt.LayerChart(layer=layers).encode(alt.X("i:O", title=index_title, scale=places, axis=axis))


def _bar(lines: dict[str, str]) -> alt.Chart:
    """Draw the bars; the `lines` of the tooltip are also the description of a bar for screen readers."""
    sign = alt.ColorValue(colour.POSITIVE).condition(test="datum.value < 0", value=colour.NEGATIVE)
    fade = alt.OpacityValue(0.45).condition(test="datum.chosen", value=1)
    return alt.Chart().mark_bar(tooltip=tooltip(lines), description=spoken(lines)).encode(sign, fade)


def _numbers_at_ends(value_format: str) -> alt.Chart:
    """Write the value beyond each bar's end: right of positive bars, left of negative bars."""
    align, shift = alt.ExprRef("datum.value < 0 ? 'right' : 'left'"), alt.ExprRef("datum.value < 0 ? -5 : 5")
    text = alt.Chart().mark_text(align=align, dx=shift, color=colour.INK, fontSize=12, aria=False)
    return text.encode(alt.X("value:Q"), alt.TextValue(alt.ExprRef(written(value_format))))


def _zero() -> alt.Chart:
    return alt.Chart().mark_rule(color=colour.SOFT_INK, strokeWidth=1, aria=False, tooltip=None)
