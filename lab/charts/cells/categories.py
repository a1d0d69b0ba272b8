"""A matrix of names as coloured cells: which kind of head stands in which layer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.figure import Figure, axis_text, base, check_index, names, quoted
from lab.charts.base.labels import visible

_BESIDE = 60  # pixels for row labels and their title


@dataclass(frozen=True)
class Category:
    """A name, the letters that stand for it in a cell, and whether it is one of the kinds or just the rest."""

    name: str
    sign: str
    rest: bool = False


def category_map(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    places: ArrayLike,
    categories: Sequence[Category],
    *,
    title: str,
    row_title: str,
    column_title: str,
    value_title: str,
    highlight: tuple[int, int] | None = None,
    select: bool = False,
) -> Figure:
    """Draw `places` (rows, columns), each the index of one of `categories`, as cells that carry its sign.

    Rows and columns are numbered from 1. At most six categories can be told apart by colour, beside those
    that are the rest, which are grey. With `select` a click answers as a heatmap's does: `cell`, q and k.

    Raises
    ------
    ValueError : another shape, an index that no category has, too many categories, a highlight outside.
    """
    matrix = _checked(places, categories)
    rows, columns = matrix.shape
    if highlight is not None:
        check_index(highlight[0], rows, of="category map", what="row")
        check_index(highlight[1], columns, of="category map", what="column")
    side = min(max(420 / max(rows, columns), 18), 48)
    spec = base(title, side * rows)
    spec["params"] += [
        {"name": "category_names", "value": [f"{each.sign} · {visible(each.name, 40)}" for each in categories]},
        names("category_signs", [each.sign for each in categories]),
    ]
    spec["transform"] = [
        {"window": [{"op": "row_number", "as": "place"}]},
        {"calculate": f"floor((datum.place - 1) / {columns})", "as": "q"},
        {"calculate": f"(datum.place - 1) % {columns}", "as": "k"},
    ]
    spec["encoding"] = {"x": _band("k", column_title, columns, "top"), "y": _band("q", row_title, rows, "left")}
    tooltip = (
        f"{{{quoted(row_title)}: datum.q + 1, {quoted(column_title)}: datum.k + 1, "
        f"{quoted(value_title)}: category_names[datum.category]}}"
    )
    shown = sorted(set(matrix.ravel().tolist()))
    spec["layer"] = [_cells(categories, shown, tooltip, select), _signs()]
    data = pd.DataFrame(
        {"category": matrix.ravel().astype(np.int16), "chosen": _chosen(matrix.shape, highlight)},
    )
    return Figure(
        spec, data, round(side * columns) + _BESIDE, _describe(matrix, categories),
        partial(_table, matrix, categories, row_title, column_title),
    )  # fmt: skip


def _checked(places: ArrayLike, categories: Sequence[Category]) -> NDArray[np.int64]:
    matrix = np.asarray(places, dtype=np.int64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"category map: expected places of shape (rows, columns), got shape {matrix.shape}.")
    if matrix.min() < 0 or matrix.max() >= len(categories):
        raise ValueError(f"category map: places run from 0 to {len(categories) - 1}, here up to {matrix.max()}.")
    kinds = sum(not each.rest for each in categories)
    if kinds > len(colour.lines()):
        raise ValueError(f"category map: {len(colour.lines())} kinds can be told apart, got {kinds}.")
    if len({each.sign for each in categories}) < len(categories):
        raise ValueError("category map: two categories have one sign; they could not be told apart.")
    return matrix


def _band(field: str, title: str, count: int, orient: str) -> dict[str, Any]:
    scale = {"domain": list(range(count)), "paddingInner": 0.06, "paddingOuter": 0}
    axis = axis_text() | {"labelExpr": "datum.value + 1", "orient": orient, "labelAngle": 0}
    return {"field": field, "type": "ordinal", "title": title, "scale": scale, "axis": axis}


def _cells(categories: Sequence[Category], shown: Sequence[int], tooltip: str, select: bool) -> dict[str, Any]:
    kinds = iter(colour.lines())
    colours: list[Any] = [colour.masked(0) if each.rest else next(kinds) for each in categories]
    legend = {
        "title": None, "orient": "bottom", "labelExpr": "category_names[datum.value]", "labelColor": colour.SOFT_INK,
        "symbolType": "square", "symbolStrokeWidth": 0, "symbolOpacity": 1,
        "columns": {"expr": "width < 420 ? 1 : 2"}, "labelLimit": 240,
        "values": list(shown), "offset": 10, "padding": 0,
    }  # fmt: skip
    scale = {"domain": list(range(len(categories))), "range": colours}
    mark: dict[str, Any] = {"type": "rect", "tooltip": {"expr": tooltip}, "strokeWidth": 3}
    layer: dict[str, Any] = {
        "mark": mark,
        "encoding": {
            "color": {"field": "category", "type": "nominal", "scale": scale, "legend": legend},
            "stroke": {"condition": {"test": "datum.chosen", "value": colour.INK}, "value": None},
        },
    }
    if select:
        mark["cursor"] = "pointer"
        point = {"type": "point", "fields": ["q", "k"], "toggle": False, "clear": False}
        layer["params"] = [{"name": "cell", "select": point}]
    return layer


def _signs() -> dict[str, Any]:
    """The letters inside the cells, so that colour is not the only way to tell."""
    size = {"expr": "clamp(bandwidth('x') / 2.6, 8, 15)"}
    return {
        "transform": [{"calculate": "category_signs[datum.category]", "as": "sign"}],
        "mark": {"type": "text", "fontSize": size, "fontWeight": 600, "color": _ink(), "tooltip": None, "aria": False},
        "encoding": {"text": {"field": "sign", "type": "nominal"}},
    }


def _ink() -> dict[str, str]:
    """The lines' colours are dark on a light page and light on a dark one."""
    return colour.themed("#ffffff", "#111318")


def _chosen(shape: tuple[int, ...], highlight: tuple[int, int] | None) -> NDArray[np.bool_]:
    chosen = np.zeros(shape, dtype=np.bool_)
    if highlight is not None:
        chosen[highlight] = True
    return chosen.ravel()


def _describe(matrix: NDArray[np.int64], categories: Sequence[Category]) -> str:
    counts = Counter(matrix.ravel().tolist()).most_common()
    told = ", ".join(f"{categories[place].name} {count}" for place, count in counts)
    return f"Map of names, {matrix.shape[0]} by {matrix.shape[1]}. Cells of each: {told}."


def _table(
    matrix: NDArray[np.int64], categories: Sequence[Category], row_title: str, column_title: str
) -> pd.DataFrame:  # fmt: skip
    rows, columns = matrix.shape
    return pd.DataFrame(
        [[categories[place].name for place in row] for row in matrix],
        index=[f"{row_title} {i + 1}" for i in range(rows)],
        columns=[f"{column_title} {i + 1}" for i in range(columns)],
    )
