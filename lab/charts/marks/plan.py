"""The plan of a layer: its steps as boxes from top to bottom, and the connections that lead past some of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from lab.charts.base import colour
from lab.charts.base.figure import Figure, base, names
from lab.charts.base.labels import visible
from lab.charts.base.tables import table

_ROW = 46  # pixels a step
_LANE, _LEFT, _RIGHT, _NUMBER = 0.06, 0.2, 0.72, 0.76  # shares of the width
_MIDDLE = (_LEFT + _RIGHT) / 2


@dataclass(frozen=True)
class Box:
    """One step: its name, a number of it, and the index of the step that is added to it from above, if any."""

    name: str
    value: float
    residual: int | None = None


def plan(boxes: Sequence[Box], *, title: str, value_title: str, value_format: str = ".2f") -> Figure:
    """Draw `boxes` in their order, the first at the top, each with its number; sums are outlined.

    Raises
    ------
    ValueError
        No boxes, or a residual that does not come from a box above.
    """
    wrong = [box.name for at, box in enumerate(boxes) if box.residual is not None and not 0 <= box.residual < at]
    if not boxes or wrong:
        raise ValueError(f"plan: a residual must come from a box above; {wrong or 'there are no boxes'}.")
    spec = base(title, _ROW * len(boxes))
    spec["params"].append(names("labels", [box.name for box in boxes]))
    spec["encoding"] = {
        "x": {"field": "x", "type": "quantitative", "scale": {"domain": [0, 1], "nice": False}, "axis": None},
        "y": _y("y", len(boxes)),
    }
    number = _text(f"format(datum.value, '{value_format}')", "left", _NUMBER)
    spec["layer"] = [_lines(), _heads(), *_boxes(), _text("labels[datum.row]", "center"), number]
    values = np.array([box.value for box in boxes], dtype=np.float32)
    shown = [visible(box.name) for box in boxes]
    ways = [
        f"{shown[box.residual]} is added at {name}"
        for box, name in zip(boxes, shown, strict=True)
        if box.residual is not None
    ]
    steps = ", ".join(f"{name} ({box.value:{value_format}})" for box, name in zip(boxes, shown, strict=True))
    alt = f"Plan of {len(boxes)} steps with the {value_title.lower()} after each: {steps}. {'; '.join(ways)}."
    rows = partial(table, values[:, None], [box.name for box in boxes], [value_title])
    return Figure(spec, _data(boxes), 480, alt, rows)


def _y(field: str, count: int) -> dict[str, Any]:
    scale = {"domain": [-0.5, count - 0.5], "nice": False, "reverse": True}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}


def _data(boxes: Sequence[Box]) -> pd.DataFrame:
    """Boxes, line segments and arrow heads in one table, told apart by ``kind``."""
    rows: list[tuple[str, int, float, float, float, float, float]] = []
    for at, box in enumerate(boxes):
        rows.append(("sum" if box.residual is not None else "box", at, box.value, _LEFT, at - 0.3, _RIGHT, at + 0.3))
        if at:
            rows += _way(at, (_MIDDLE, at - 0.7), (_MIDDLE, at - 0.3))
            rows.append(("down", at, 0.0, _MIDDLE, at - 0.36, 0.0, 0.0))
        if box.residual is not None:
            # It leaves below the step it comes from, so that the first box after it is passed as well.
            top = box.residual + 0.5
            rows += _way(at, (_MIDDLE, top), (_LANE, top), (_LANE, at), (_LEFT, at))
            rows.append(("right", at, 0.0, _LEFT - 0.012, at, 0.0, 0.0))
    frame = pd.DataFrame(rows, columns=["kind", "row", "value", "x", "y", "x2", "y2"])
    return frame.astype({"value": np.float32})


def _way(row: int, *corners: tuple[float, float]) -> list[tuple[str, int, float, float, float, float, float]]:
    return [("line", row, 0.0, *start, *end) for start, end in pairwise(corners)]


def _lines() -> dict[str, Any]:
    mark = {"type": "rule", "strokeWidth": 2, "color": colour.SOFT_INK, "tooltip": None, "aria": False}
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {"transform": [{"filter": "datum.kind === 'line'"}], "mark": mark, "encoding": ends}


def _heads() -> dict[str, Any]:
    shape = {"expr": "datum.kind === 'down' ? 'triangle-down' : 'triangle-right'"}
    mark = {"type": "point", "filled": True, "size": 70, "opacity": 1, "shape": shape, "color": colour.SOFT_INK}
    return {
        "transform": [{"filter": "datum.kind === 'down' || datum.kind === 'right'"}],
        "mark": mark | {"tooltip": None, "aria": False},
    }


def _boxes() -> list[dict[str, Any]]:
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    layers = []
    for kind, ink, width in (("box", colour.SOFT_INK, 1), ("sum", colour.POSITIVE, 2.5)):
        mark = {"type": "rect", "fill": colour.PAPER, "stroke": ink, "strokeWidth": width, "cornerRadius": 6}
        layers.append(
            {"transform": [{"filter": f"datum.kind === '{kind}'"}], "mark": mark | {"aria": False}, "encoding": ends}
        )
    return layers


def _text(expression: str, align: str, x: float = _MIDDLE) -> dict[str, Any]:
    mark = {"type": "text", "align": align, "baseline": "middle", "fontSize": 14, "color": colour.INK, "aria": False}
    return {
        "transform": [
            {"filter": "datum.kind === 'box' || datum.kind === 'sum'"},
            {"calculate": "datum.row", "as": "middle"},
        ],
        "mark": mark | {"tooltip": None},
        "encoding": {
            "text": {"value": {"expr": expression}},
            "x": {"datum": x, "type": "quantitative"},
            "y": {"field": "middle", "type": "quantitative"},
        },
    }
