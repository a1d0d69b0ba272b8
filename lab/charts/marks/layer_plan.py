"""Draw the plan of a layer: its steps as boxes from top to bottom, and the connections that lead past some boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

from lab.charts.base import alt, colour
from lab.charts.base.axes import visible
from lab.charts.base.chart_table import table
from lab.charts.base.figure import Figure, base
from lab.charts.base.plain import of_kind, specification

_ROW = 46  # pixels for each step
_LANE, _LEFT, _RIGHT, _NUMBER = 0.06, 0.2, 0.72, 0.76  # shares of the width
_MIDDLE = (_LEFT + _RIGHT) / 2


@dataclass(frozen=True)
class Box:
    """One step: its name, its number, and the index of the earlier step that is added to this step, if there is one."""

    name: str
    value: float
    residual: int | None = None


def plan(boxes: Sequence[Box], *, title: str, value_title: str, value_format: str = ".2f") -> Figure:
    """Draw `boxes` in their order, the first at the top, each with its number; sums are outlined."""
    frame = base(title, _ROW * len(boxes), texts={"labels": [box.name for box in boxes]})
    spec = specification(frame, _chart, len(boxes), value_format)
    values = np.array([box.value for box in boxes], dtype=np.float32)
    shown = [visible(box.name) for box in boxes]
    ways = [
        f"{shown[box.residual]} is added at {name}"
        for box, name in zip(boxes, shown, strict=True)
        if box.residual is not None
    ]
    steps = ", ".join(f"{name} ({box.value:{value_format}})" for box, name in zip(boxes, shown, strict=True))
    described = f"Plan of {len(boxes)} steps with the {value_title.lower()} after each: {steps}. {'; '.join(ways)}."
    rows = partial(table, values[:, None], [box.name for box in boxes], [value_title])
    return Figure(spec, _data(boxes), 480, described, rows)


def _chart(count: int, value_format: str) -> alt.LayerChart:
    """Draw the connections with arrow heads, the boxes over the connections, and a name and a number for each box."""
    ends = alt.X2("x2"), alt.Y2("y2")
    ways = of_kind("line").mark_rule(strokeWidth=2, color=colour.SOFT_INK, tooltip=None, aria=False).encode(*ends)
    shape = alt.ExprRef("datum.kind === 'down' ? 'triangle-down' : 'triangle-right'")
    heads = of_kind("down", "right").mark_point(
        shape=shape, filled=True, size=70, opacity=1, color=colour.SOFT_INK, tooltip=None, aria=False
    )
    plain, sums = (
        of_kind(kind)
        .mark_rect(fill=colour.PAPER, stroke=ink, strokeWidth=width, cornerRadius=6, aria=False)
        .encode(*ends)
        for kind, ink, width in (("box", colour.SOFT_INK, 1), ("sum", colour.POSITIVE, 2.5))
    )
    name = _text("labels[datum.row]", "center", _MIDDLE)
    number = _text(f"format(datum.value, '{value_format}')", "left", _NUMBER)
    down = alt.Scale(domain=[-0.5, count - 0.5], nice=False, reverse=True)
    layers = ways, heads, plain, sums, name, number
    return alt.LayerChart(layer=layers).encode(
        alt.X("x:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None), alt.Y("y:Q", scale=down, axis=None)
    )


def _text(expression: str, align: Literal["center", "left"], x: float) -> alt.Chart:
    """Return the text that `expression` gives for each box, at the box's height."""
    text = of_kind("box", "sum").mark_text(
        align=align, baseline="middle", fontSize=14, color=colour.INK, aria=False, tooltip=None
    )
    return text.encode(alt.TextValue(alt.ExprRef(expression)), alt.XDatum(x, type="quantitative"), alt.Y("row:Q"))


def _data(boxes: Sequence[Box]) -> pd.DataFrame:
    """Boxes, line segments and arrow heads in one table, told apart by ``kind``."""
    rows: list[tuple[str, int, float, float, float, float, float]] = []
    for at, box in enumerate(boxes):
        rows.append(("sum" if box.residual is not None else "box", at, box.value, _LEFT, at - 0.3, _RIGHT, at + 0.3))
        if at:
            rows += _way(at, (_MIDDLE, at - 0.7), (_MIDDLE, at - 0.3))
            rows.append(("down", at, 0.0, _MIDDLE, at - 0.36, 0.0, 0.0))
        if box.residual is not None:
            # The connection leaves below the step from which it comes, so that it passes the first box after that step
            # as well.
            top = box.residual + 0.5
            rows += _way(at, (_MIDDLE, top), (_LANE, top), (_LANE, at), (_LEFT, at))
            rows.append(("right", at, 0.0, _LEFT - 0.012, at, 0.0, 0.0))
    frame = pd.DataFrame(rows, columns=["kind", "row", "value", "x", "y", "x2", "y2"])
    return frame.astype({"value": np.float32})


def _way(row: int, *corners: tuple[float, float]) -> list[tuple[str, int, float, float, float, float, float]]:
    return [("line", row, 0.0, *start, *end) for start, end in pairwise(corners)]
