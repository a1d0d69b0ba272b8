"""Draw vectors of two numbers as arrows from one point, to see which of them point the same way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from lab.charts.base import alt, colour
from lab.charts.base.axes import visible
from lab.charts.base.chart_table import table
from lab.charts.base.figure import Figure, base
from lab.charts.base.plain import of_kind, specification

_UNIT = 120  # pixels
_ROOM = 0.28  # units around the arrows, for their names


@dataclass(frozen=True)
class Arrow:
    """A vector from the origin; the ``marked`` one has the colour of what is chosen, and its name below its tip."""

    name: str
    x: float
    y: float
    marked: bool = False


def arrows(drawn: Sequence[Arrow], *, title: str) -> Figure:
    """Draw `drawn`, each with its name at its tip. Both axes have one unit, so that angles are as they are."""
    right, top = (max(0.0, *(getattr(each, side) for each in drawn)) + _ROOM for side in "xy")
    left, bottom = (min(0.0, *(getattr(each, side) for each in drawn)) - _ROOM for side in "xy")
    frame = base(title, round(_UNIT * (top - bottom)), texts={"labels": [each.name for each in drawn]})
    spec = specification(frame, _chart, (left, right), (bottom, top))
    names = [visible(each.name) for each in drawn]
    told = ", ".join(f"{name} ({each.x:g}, {each.y:g})" for name, each in zip(names, drawn, strict=True))
    values = np.array([(each.x, each.y) for each in drawn], dtype=np.float32)
    rows = partial(table, values, [each.name for each in drawn], ["First number", "Second number"])
    width = round(_UNIT * (right - left))
    return Figure(spec, _data(drawn), width, f"{len(drawn)} vectors as arrows from one point: {told}.", rows)


def _chart(across: tuple[float, float], up: tuple[float, float]) -> alt.LayerChart:
    """Draw each arrow's line, its head and its name; the marked arrow is broader, and drawn below the others."""
    layers = []
    for kind, ink, line in (("marked", colour.NEGATIVE, 6), ("plain", colour.POSITIVE, 2.5)):
        ends, head = (alt.X2("x2"), alt.Y2("y2")), alt.Angle("turn:Q", scale=None)
        layers += [
            of_kind(kind).mark_rule(strokeWidth=line, color=ink, tooltip=None, aria=False).encode(*ends),
            of_kind(kind)
            .mark_point(shape="triangle-up", filled=True, size=110 + 20 * line, opacity=1, color=ink, tooltip=None)
            .encode(head),
            of_kind(kind)
            .mark_text(dy=20 if kind == "marked" else -14, fontSize=14, color=ink, tooltip=None, aria=False)
            .encode(alt.TextValue(alt.ExprRef("labels[datum.i]"))),
        ]
    sides = (alt.Scale(domain=list(ends), nice=False, zero=False) for ends in (across, up))
    return alt.LayerChart(layer=layers).encode(
        alt.X("x:Q", scale=next(sides), axis=None), alt.Y("value:Q", scale=next(sides), axis=None)
    )


def _data(drawn: Sequence[Arrow]) -> pd.DataFrame:
    """One row for each arrow, with the angle of its head, clockwise from upright, in degrees."""
    return pd.DataFrame(
        {
            "kind": ["marked" if each.marked else "plain" for each in drawn],
            "i": np.arange(len(drawn), dtype=np.int32),
            "x": np.array([each.x for each in drawn], dtype=np.float32),
            "value": np.array([each.y for each in drawn], dtype=np.float32),
            "x2": np.zeros(len(drawn), dtype=np.float32),
            "y2": np.zeros(len(drawn), dtype=np.float32),
            "turn": np.array([math.degrees(math.atan2(each.x, each.y)) for each in drawn], dtype=np.float32),
        }
    )
