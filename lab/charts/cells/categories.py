"""A matrix of names as coloured cells, such as the kinds of heads; or of words, such as the best after each layer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Axis, Scale, visible
from lab.charts.base.chart_table import table
from lab.charts.base.figure import axis_text, base, names, numbers, quoted
from lab.charts.cells.grid import Chosen, Grid, Texts
from lab.charts.cells.heatmap import Heatmap, drawn

_BESIDE = 60  # pixels for row labels and their title
_LAYER, _HEAD = "Layer", "Head"


@dataclass(frozen=True)
class Category:
    """A category: its name, its letters inside a cell, and whether it is the rest: the names that belong to no kind."""

    name: str
    sign: str
    rest: bool = False


@dataclass(frozen=True)
class CategoryMap(Heatmap):
    """A map of names: ``values`` are indices into ``categories``; one cell may be highlighted."""

    categories: Sequence[Category]
    highlight: tuple[int, int] | None


def category_map(
    places: ArrayLike,
    categories: Sequence[Category],
    *,
    title: str,
    value_title: str,
    highlight: tuple[int, int] | None = None,
) -> CategoryMap:
    """Draw `places` (layers, heads), indices into `categories`, as cells with the letters of the category.

    Layers and heads are numbered from 1. At most six categories can be told apart by colour; categories that are
    the rest are grey.
    """
    matrix = np.asarray(places, dtype=np.int64)
    rows, columns = matrix.shape
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
    spec["encoding"] = {"x": _band("k", _HEAD, columns, "top"), "y": _band("q", _LAYER, rows, "left")}
    places_told = f"{quoted(_LAYER)}: datum.q + 1, {quoted(_HEAD)}: datum.k + 1"
    tooltip = f"{{{places_told}, {quoted(value_title)}: category_names[datum.category]}}"
    shown = sorted(set(matrix.ravel().tolist()))
    spec["layer"] = [_cells(categories, shown, tooltip), _signs()]
    data = pd.DataFrame({"category": matrix.ravel().astype(np.int16), "chosen": _chosen(matrix.shape, highlight)})
    return CategoryMap(
        spec=spec,
        data=data,
        width=round(side * columns) + _BESIDE,
        alt=_describe(matrix, categories),
        table=partial(_table, matrix, categories),
        title=title,
        values=matrix,
        axes=(_counted(_LAYER, rows), _counted(_HEAD, columns)),
        scale=Scale(value_title),
        causal=False,
        categories=categories,
        highlight=highlight,
    )


def _counted(title: str, count: int) -> Axis:
    return Axis(title, [str(i + 1) for i in range(count)], things=f"{title.lower()}s")


def _band(field: str, title: str, count: int, orient: str) -> dict[str, Any]:
    scale = {"domain": list(range(count)), "paddingInner": 0.06, "paddingOuter": 0}
    axis = axis_text() | {"labelExpr": "datum.value + 1", "orient": orient, "labelAngle": 0}
    return {"field": field, "type": "ordinal", "title": title, "scale": scale, "axis": axis}


def _cells(categories: Sequence[Category], shown: Sequence[int], tooltip: str) -> dict[str, Any]:
    kinds = iter(colour.lines())
    colours: list[Any] = [colour.MASKED if each.rest else next(kinds) for each in categories]
    names = {"labelExpr": "category_names[datum.value]", "labelColor": colour.SOFT_INK, "labelLimit": 240}
    symbol = {"symbolType": "square", "symbolStrokeWidth": 0, "symbolOpacity": 1}
    place = {"orient": "bottom", "columns": {"expr": "width < 420 ? 1 : 2"}, "offset": 10, "padding": 0}
    legend = {"title": None, "values": list(shown), **names, **symbol, **place}
    scale = {"domain": list(range(len(categories))), "range": colours}
    return {
        "mark": {"type": "rect", "tooltip": {"expr": tooltip}, "strokeWidth": 3},
        "encoding": {
            "color": {"field": "category", "type": "nominal", "scale": scale, "legend": legend},
            "stroke": {"condition": {"test": "datum.chosen", "value": colour.INK}, "value": None},
        },
    }


def _signs() -> dict[str, Any]:
    """Return the letters inside the cells, so that categories differ not only by colour."""
    size = {"expr": "clamp(bandwidth('x') / 2.6, 8, 15)"}
    return {
        "transform": [{"calculate": "category_signs[datum.category]", "as": "sign"}],
        "mark": {"type": "text", "fontSize": size, "fontWeight": 600, "color": _ink(), "tooltip": None, "aria": False},
        "encoding": {"text": {"field": "sign", "type": "nominal"}},
    }


def _ink() -> dict[str, str]:
    """Return the colour of the letters: the series' colours are dark on a light page and light on a dark page."""
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


def _table(matrix: NDArray[np.int64], categories: Sequence[Category]) -> pd.DataFrame:
    names = [[categories[place].name for place in row] for row in matrix]
    rows, columns = (
        [f"{title} {i + 1}" for i in range(count)] for title, count in zip((_LAYER, _HEAD), matrix.shape, strict=True)
    )
    return pd.DataFrame(names, rows, columns)


_CELL = 34  # pixels: a word of 12 pixels with space above and below


def word_grid(
    values: ArrayLike,
    texts: Texts,
    axes: tuple[Axis, Axis],
    scale: Scale,
    *,
    title: str,
    highlight: Chosen = (None, None),
) -> Heatmap:
    """Draw `texts` (rows, columns) in cells coloured by `values` (rows, columns); clicks are reported as in a heatmap.

    A text that is wider than its cell is cut; the tooltip has the whole text and the exact value.

    Raises
    ------
    ValueError
        NaN, infinity, a wrong number of labels, or a highlight that cannot be.
    """
    matrix = numbers(values, ("rows", "columns"), of="word grid")
    grid = Grid.of(matrix, title, axes, scale, cell_height=_CELL, texts=texts)
    figure = drawn(grid, matrix, highlight, of="word grid", width="stretch", kind="Grid of words")
    last = ", ".join(visible(text) for text in texts.rows[-1])
    return replace(figure, alt=f"{figure.alt} Last row: {last}.", table=partial(_word_table, matrix, grid, texts))


def _word_table(values: ArrayLike, grid: Grid, texts: Texts) -> pd.DataFrame:
    """One line for each cell: row, column, text, value."""
    rows, columns = grid.axes
    flat = table(values, rows.names, columns.names, long=True)
    flat.insert(2, "text", np.asarray([visible(text) for row in texts.rows for text in row], dtype=object))
    return flat.set_axis([rows.title, columns.title, texts.title, grid.scale.title], axis=1)
