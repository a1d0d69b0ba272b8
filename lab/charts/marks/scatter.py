"""Draw two numbers of each of many things as a point, to see whether the two numbers go together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import Domain, Scale
from lab.charts.base.chart_table import table
from lab.charts.base.figure import CANVAS_ABOVE, Figure, base, numbers
from lab.charts.base.plain import dashed_rule, number, of_kind, ruled_axis, specification, tooltip

_EACH, _CHOSEN = 0, 1


def scatter(
    labels: Sequence[str],
    points: tuple[ArrayLike, ArrayLike],
    scales: tuple[Scale, Scale],
    *,
    title: str,
    rule: float | None = None,
    highlight: int | None = None,
) -> Figure:
    """Draw `points` (x, y), each (things,), and the label of each under the pointer.

    `rule` is an upright dashed line at that x, `highlight` (from 0) a ring around one point.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    x, y = (numbers(values, ("things",), of="scatter") for values in points)
    limits = scales[0].limits(x), scales[1].limits(y)
    frame = base(title, 320, canvas=len(x) > CANVAS_ABOVE**2, texts={"labels": labels})
    spec = specification(frame, _chart, scales, limits, rule)
    told = _words((x, y), labels, scales, highlight)
    made = partial(table, np.stack([x, y], axis=1), labels, [scale.title for scale in scales])
    return Figure(spec, _data(x, y, highlight), 720, told, made)


def _chart(scales: tuple[Scale, Scale], limits: tuple[Domain, Domain], rule: float | None) -> alt.LayerChart:
    """Draw the line at `rule`, the points, and the ring around one point."""
    lines = tooltip({"Label": "labels[datum.i]", scales[0].title: number("x"), scales[1].title: number("value")})
    dots = of_kind(_EACH).mark_point(
        filled=True, size=70, opacity=0.6, color=colour.POSITIVE, tooltip=lines, aria=False
    )
    ring = of_kind(_CHOSEN).mark_point(
        filled=False, size=220, strokeWidth=3, opacity=1, color=colour.NEGATIVE, tooltip=lines, aria=False
    )
    layers = [dots, ring]
    if rule is not None:
        layers.insert(0, dashed_rule(colour.SOFT_INK).encode(alt.XDatum(rule, type="quantitative")))
    # Leave a little room above the highest point, so that the whole point is drawn.
    across, up = (
        alt.Scale(domain=ends, nice=nice, clamp=True) for ends, nice in zip(limits, (False, True), strict=True)
    )
    return alt.LayerChart(layer=layers).encode(
        alt.X("x:Q", title=scales[0].title, scale=across, axis=ruled_axis(6)),
        alt.Y("value:Q", title=scales[1].title, scale=up, axis=ruled_axis(6)),
    )


def _data(x: NDArray[np.float32], y: NDArray[np.float32], highlight: int | None) -> pd.DataFrame:
    rows = np.r_[np.arange(len(x)), [] if highlight is None else [highlight]].astype(np.int32)
    kind = np.r_[np.full(len(x), _EACH), np.full(len(rows) - len(x), _CHOSEN)].astype(np.int8)
    return pd.DataFrame({"kind": kind, "i": rows, "x": x[rows], "value": y[rows]})


def _words(
    points: tuple[NDArray[np.float32], NDArray[np.float32]],
    labels: Sequence[str],
    scales: tuple[Scale, Scale],
    highlight: int | None,
) -> str:
    (x, y), (across, up) = points, scales
    text = (
        f"{len(x)} points. {across.title} from {format(float(x.min()), across.format)} to "
        f"{format(float(x.max()), across.format)}, {up.title} from {format(float(y.min()), up.format)} to "
        f"{format(float(y.max()), up.format)}."
    )
    if highlight is None:
        return text
    here = f"{across.title} {format(float(x[highlight]), across.format)}"
    return f"{text} {labels[highlight]}: {here}, {up.title} {format(float(y[highlight]), up.format)}."
