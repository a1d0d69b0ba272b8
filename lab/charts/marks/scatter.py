"""Two numbers of each of many things, a point each: whether they go together."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Scale
from lab.charts.base.figure import (
    CANVAS_ABOVE,
    Figure,
    axis_text,
    base,
    check_format,
    check_index,
    check_labels,
    names,
    numbers,
    quoted,
)
from lab.charts.base.tables import table

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
        NaN, infinity, x, y and labels of different lengths, or a highlight or format that cannot be.
    """
    x, y = (numbers(values, ("things",), of="scatter") for values in points)
    if len(x) != len(y):
        raise ValueError(f"scatter: {len(x)} x but {len(y)} y; give one y to each x.")
    check_labels(len(x), labels, of="scatter", what="points")
    check_index(highlight, len(x), of="scatter", what="point")
    for scale in scales:
        check_format(scale.format, of="scatter")
    spec = base(title, 320, canvas=len(x) > CANVAS_ABOVE**2)
    spec["params"].append(names("labels", labels))
    spec["encoding"] = {
        "x": _axis("x", scales[0].title, scales[0].limits(x, of="scatter")),
        "y": _axis("value", scales[1].title, scales[1].limits(y, of="scatter")),
    }
    shown = {"Label": "labels[datum.i]"} | {
        scale.title: f"format(datum.{field}, '.6~g')" for field, scale in zip(("x", "value"), scales, strict=True)
    }
    tooltip = {"expr": "{" + ", ".join(f"{quoted(name)}: {said}" for name, said in shown.items()) + "}"}
    dots = {"type": "point", "filled": True, "size": 70, "opacity": 0.6, "color": colour.POSITIVE, "tooltip": tooltip}
    ring = {"type": "point", "filled": False, "size": 220, "strokeWidth": 3, "color": colour.NEGATIVE, "opacity": 1}
    spec["layer"] = [*_upright(rule), _only(_EACH, dots), _only(_CHOSEN, ring | {"tooltip": tooltip})]
    alt, told = (
        _words((x, y), labels, scales, highlight),
        partial(table, np.stack([x, y], axis=1), labels, [scale.title for scale in scales]),
    )
    return Figure(spec, _data(x, y, highlight), 720, alt, told)


def _axis(field: str, title: str, limits: tuple[float, float]) -> dict[str, Any]:
    axis = axis_text() | {"tickCount": 6, "grid": True, "gridOpacity": 0.5}
    # A little room above the highest point, so that it is drawn whole.
    scale = {"domain": list(limits), "nice": field == "value", "clamp": True}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def _upright(rule: float | None) -> list[dict[str, Any]]:
    if rule is None:
        return []
    mark = {"type": "rule", "color": colour.SOFT_INK, "strokeDash": [5, 4], "strokeWidth": 1.5, "aria": False}
    encoding = {"x": {"datum": rule, "type": "quantitative"}, "y": {"value": 0}, "y2": {"value": "height"}}
    return [{"mark": mark | {"tooltip": None}, "encoding": encoding}]


def _only(kind: int, mark: dict[str, Any]) -> dict[str, Any]:
    return {"transform": [{"filter": f"datum.kind === {kind}"}], "mark": mark | {"aria": False}}


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
