"""A classifier that is taught by examples: how good it is with how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lab.analysis.tasks.few_examples import LearningCurve
from lab.charts.base import alt, colour
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure, numbers
from lab.charts.marks.lines import across, line_figure, pointed, told_apart, upward


def learning_curve(found: Mapping[str, LearningCurve]) -> Figure:
    """Draw the share of the other sentences that are right, over the number of examples; the first has its range."""
    first = next(iter(found.values()))
    lines = {name: each.mean for name, each in found.items()}
    x, scale = AxisPlaces("Examples", first.sizes), Scale("Share right", (0.2, 1.0), ".2f")
    title = "Right on the sentences that it has not learned from"
    return banded_lines(lines, (first.low, first.high), x, scale, title=title, level=0.5)


Band = tuple[ArrayLike, ArrayLike]


def banded_lines(
    series: Mapping[str, ArrayLike], band: Band, x: AxisPlaces, y: Scale, *, title: str, level: float | None = None
) -> Figure:
    """Draw `series`, as :func:`lines` does, and from `band` (low, high), (points,) each, an area around the first one.

    `level` is a dashed line from left to right, to compare with.

    Raises
    ------
    ValueError
        NaN or infinity, or a band that has another number of points than the first line.
    """
    low, high = (numbers(side, ("points",), of="banded lines, band") for side in band)
    first, line = next(iter(series.items()))
    if not len(low) == len(high) == np.size(line):
        raise ValueError(f"banded lines: the band of “{first}” needs {np.size(line)} points, not {len(low)}.")
    figure = line_figure(series, x, y, title, partial(_chart, list(series), x, y, level))
    rest = len(figure.data) - len(low)
    columns = {
        name: np.concatenate([side, np.full(rest, np.nan, np.float32)]) for name, side in (("low", low), ("high", high))
    }
    return replace(figure, data=figure.data.assign(**columns), table=partial(_table, figure, first, low, high))


def _table(figure: Figure, first: str, low: ArrayLike, high: ArrayLike) -> pd.DataFrame:
    """Return the table of the lines, with the ends of the band."""
    found = figure.table()
    return found.assign(**{f"{first}, low": pd.Series(low), f"{first}, high": pd.Series(high)})


def _chart(names: Sequence[str], x: AxisPlaces, y: Scale, level: float | None) -> alt.LayerChart:
    """Draw the band, the level to compare with, the lines, and points on the lines that answer the pointer."""
    wide, up = across(x, zero=False, nice=False), upward(y.title, **_up(y))
    area = alt.Chart().transform_filter("datum.line === 0").mark_area(opacity=0.18, tooltip=None, aria=False)
    low = upward(y.title, "low", **_up(y))
    lines = alt.Chart().mark_line(strokeWidth=2, tooltip=None)
    points = alt.Chart().mark_point(filled=True, size=30, tooltip=pointed(names, x.title, y.title))
    layers = [
        area.encode(wide, low, alt.Y2("high"), alt.ColorValue(colour.lines()[0])),
        *(each.encode(wide, up, told_apart(names)) for each in (lines, points)),
    ]
    if level is not None:
        rule = alt.Chart().mark_rule(strokeDash=[5, 4], color=colour.SOFT_INK, tooltip=None, aria=False)
        across_all = alt.XValue(0), alt.X2Value("width")
        layers.insert(0, rule.encode(alt.YDatum(level, type="quantitative", scale=alt.Scale(**_up(y))), *across_all))
    return alt.LayerChart(layer=layers)


def _up(y: Scale) -> dict[str, Any]:
    return {"domain": y.domain} if y.domain else {"zero": False}
