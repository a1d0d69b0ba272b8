"""Lines over a logarithmic axis with a few points marked on them: where this head stands among all lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure, names, numbers, quoted
from lab.charts.base.tables import unique_names
from lab.charts.marks.lines import lines


def marked_lines(
    series: Mapping[str, ArrayLike],
    marks: Mapping[str, tuple[float, float]],
    x: AxisPlaces,
    y: Scale,
    *,
    title: str,
    rule: float | None = None,
) -> Figure:
    """Draw `series`, as :func:`lines` does, over the logarithm of `x`, and each of `marks` (x, y).

    A mark with the name of a line has its colour; any other has its name beside it. `rule` is an upright
    dashed line at that x.

    Raises
    ------
    ValueError
        Whatever `lines` refuses; an x, mark or rule that has no logarithm; a mark that is NaN or infinite.
    """
    places = numbers([[*place] for place in marks.values()], ("marks", "coordinates"), of="marked lines")
    at = [*(x.at or ()), *places[:, 0].tolist(), *([] if rule is None else [rule])]
    if min(at) <= 0:
        raise ValueError(f"marked lines: {min(at)} has no logarithm; x, marks and rule must be above 0.")
    figure = lines(series, x, y, title=title)
    spec = figure.spec
    spec["params"].append(names("mark_labels", list(marks)))
    owners = [list(series).index(name) if name in series else -1 for name in marks]
    low, high = float(min(at)), float(max(at))
    spec["encoding"]["x"]["scale"] = {"type": "log", "domain": [low, high], "nice": False}
    spec["layer"] = [
        spec["layer"][0],
        _hover(spec["layer"][1]),
        *_upright(rule),
        *_marks(places, owners, x.title, y.title),
    ]
    told = "; ".join(
        f"{name} at {x.title.lower()} {place[0]:g}: {format(float(place[1]), y.format)}"
        for name, place in zip(marks, places, strict=True)
    )
    return replace(figure, alt=f"{figure.alt} Marked: {told}.", table=partial(_table, figure, places, list(marks)))


def _hover(points: dict[str, Any]) -> dict[str, Any]:
    """The lines' points, unseen: they only answer the pointer."""
    return {**points, "mark": points["mark"] | {"opacity": 0, "size": 80}}


def _upright(rule: float | None) -> list[dict[str, Any]]:
    if rule is None:
        return []
    mark = {"type": "rule", "color": colour.INK, "strokeDash": [5, 4], "strokeWidth": 1.5, "aria": False}
    x, ends = {"field": "x", "type": "quantitative"}, {"y": {"value": 0}, "y2": {"value": "height"}}
    encoding = {"x": x, **ends, "color": {"value": colour.INK}}
    return [{"data": {"values": [{"x": rule}]}, "mark": mark | {"tooltip": None}, "encoding": encoding}]


def _marks(places: NDArray[np.float32], owners: Sequence[int], x_title: str, y_title: str) -> list[dict[str, Any]]:
    """A large point for each mark; the name of one that is on no line stands beside it, where there is room."""
    rows = [
        {"x": float(x), "value": float(y), "mark": i, "owner": owner}
        for i, ((x, y), owner) in enumerate(zip(places, owners, strict=True))
    ]
    tooltip = {
        "expr": f"{{'Mark': mark_labels[datum.mark], {quoted(x_title)}: format(datum.x, '.6~g'), "
        f"{quoted(y_title)}: format(datum.value, '.6~g')}}"
    }
    shape = {"field": "mark", "type": "nominal", "legend": None, "scale": {"range": ["circle", "diamond", "square"]}}
    point = {"type": "point", "filled": True, "size": 130, "opacity": 1, "tooltip": tooltip}
    left = "scale('x', datum.x) > width / 2"
    text = {"type": "text", "fontSize": 12, "fontWeight": "bold", "baseline": "bottom", "dy": -8, "aria": False}
    text |= {"align": {"expr": f"{left} ? 'right' : 'left'"}, "dx": {"expr": f"{left} ? -6 : 6"}}
    own = [{"test": f"datum.owner === {i}", "value": line} for i, line in enumerate(colour.lines())]
    data, ink = {"values": rows}, {"value": colour.INK}
    label = {"value": {"expr": "mark_labels[datum.mark]"}}
    named = {"transform": [{"filter": "datum.owner < 0"}], "mark": text, "encoding": {"color": ink, "text": label}}
    points = {"mark": point, "encoding": {"color": {"condition": own, **ink}, "shape": shape}}
    return [{"data": data, **points}, {"data": data, **named}]


def _table(figure: Figure, places: NDArray[np.float32], marks: Sequence[str]) -> pd.DataFrame:
    """The lines' table, then a row for each mark in a column of its own."""
    whole = figure.table()
    columns = unique_names([*whole.columns, *marks])[len(whole.columns) :]
    extra = [
        pd.DataFrame({whole.columns[0]: [place[0]], name: [place[1]]})
        for name, place in zip(columns, places, strict=True)
    ]
    return pd.concat([whole, *extra], ignore_index=True)
