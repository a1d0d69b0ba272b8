"""The drawing under heatmaps and strips: a matrix of coloured cells from one flat column of numbers.

The browser derives row `q` and column `k` of each number from its place, so labels cost nothing per cell
and two equal tokens stay two rows. Labels live in parameters and are looked up by index.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lab.charts import colour
from lab.charts.figure import base, names, quoted, text_width

Scale = Literal["sequential", "diverging"]

CANVAS_ABOVE = 44  # tokens: beyond, thousands of SVG nodes make a page slow
LABELS_UP_TO = 128
LABEL_LIMIT = 76  # pixels: leaves two thirds of a phone to the cells
NUMBERS_UP_TO = 8


@dataclass(frozen=True)
class Grid:
    """What a grid of cells needs to know beside its numbers. Sizes in pixels, titles as a reader sees them."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    row_title: str
    column_title: str
    value_title: str
    scale: Scale
    domain: tuple[float, float]
    value_format: str
    cell_height: float
    square: bool
    causal: bool = False
    select: str | None = None
    written: bool = False


def grid_spec(grid: Grid, chosen: tuple[int | None, int | None]) -> dict[str, Any]:
    """The Vega-Lite specification of `grid` with row and/or cell `chosen` outlined."""
    rows, columns = len(grid.rows), len(grid.columns)
    spec = base(grid.title, grid.cell_height * rows, canvas=max(rows, columns) > CANVAS_ABOVE)
    spec["params"] += [names("row_labels", grid.rows), names("column_labels", grid.columns)]
    if grid.square:
        # "fit-x" makes `width` the room left for cells: this keeps them square at any page width
        spec["params"].append({"name": "height", "expr": f"width * {rows} / {columns}"})
    spec["datasets"] = _outlined(chosen)
    spec["transform"] = [
        {"window": [{"op": "row_number", "as": "place"}]},
        {"calculate": f"floor((datum.place - 1) / {columns})", "as": "q"},
        {"calculate": f"(datum.place - 1) % {columns}", "as": "k"},
    ]
    spec["encoding"] = {"x": _axis(grid, "k"), "y": _axis(grid, "q")}
    spec["layer"] = [_cells(grid), *_masked(grid), *_written(grid), *_outlines()]
    return spec


def _outlined(chosen: tuple[int | None, int | None]) -> dict[str, list[dict[str, int]]]:
    """The outlines as data sets of their own, so that moving them leaves the specification as it is.

    Two, not one: with exactly one named data set Streamlit 1.67 puts the chart's own numbers into it.
    """
    q, k = chosen
    row = [] if q is None else [{"q": q}]
    cell = [] if q is None or k is None else [{"q": q, "k": k}]
    return {"chosen_row": row, "chosen_cell": cell}


def _axis(grid: Grid, field: Literal["q", "k"]) -> dict[str, Any]:
    across = field == "k"
    labels, title = (grid.columns, grid.column_title) if across else (grid.rows, grid.row_title)
    size = 12 if len(labels) <= 24 else 10
    extent = min(LABEL_LIMIT, text_width(labels, size)) if len(labels) <= LABELS_UP_TO else 0
    axis: dict[str, Any] = {
        "orient": "top" if across else "left",
        "labels": len(labels) <= LABELS_UP_TO,
        "labelExpr": f"{'column_labels' if across else 'row_labels'}[datum.value]",
        "labelAngle": {"expr": f"bandwidth('x') < {extent + 4} ? -90 : 0"} if across else 0,
        "labelLimit": extent,
        "labelOverlap": "parity",
        "labelSeparation": 4,
        "labelFlush": False,
        "labelPadding": 5,
        "labelFontSize": size,
        "titlePadding": 8,
    }
    if not across:
        # A fixed extent: were it free to follow which labels fit, width and height would chase each other
        axis |= {"minExtent": extent + 5, "maxExtent": extent + 5}
    padding = 0.04 if len(labels) <= 24 else 0
    scale = {"domain": list(range(len(labels))), "paddingInner": padding, "paddingOuter": 0}
    return {"field": field, "type": "ordinal", "title": title, "scale": scale, "axis": axis}


def _cells(grid: Grid) -> dict[str, Any]:
    low, high = grid.domain
    layer: dict[str, Any] = {
        "mark": {"type": "rect", "tooltip": {"expr": _tooltip(grid, "format(datum.value, '.6~g')")}},
        "encoding": {
            "color": {
                "field": "value",
                "type": "quantitative",
                "scale": {"domain": [low, high], "range": colour.ramp(grid.scale), "clamp": True},
                "legend": {
                    "title": grid.value_title,
                    "orient": "bottom",
                    "direction": "horizontal",
                    "gradientLength": 150,
                    "gradientThickness": 10,
                    "titleLimit": 180,
                    "offset": 10,
                    "values": [low, (low + high) / 2, high],
                    "format": ".3~g",
                    "padding": 0,
                },
            }
        },
    }
    if grid.causal:
        layer["transform"] = [{"filter": "datum.k <= datum.q"}]
    if grid.select is not None:
        layer["mark"]["cursor"] = "pointer"
        select = {"type": "point", "fields": ["q", "k"], "toggle": False, "clear": False}
        layer["params"] = [{"name": grid.select, "select": select}]
    return layer


def _masked(grid: Grid) -> list[dict[str, Any]]:
    """Cells above the diagonal of a causal model: hatched grey, for they do not exist."""
    if not grid.causal:
        return []
    stripes = [0.0, 0.2, 0.2, 0.3, 0.3, 0.7, 0.7, 0.8, 0.8, 1.0]
    inks = ["transparent", colour.MASKED]
    stops = [{"offset": at, "color": inks[place // 2 % 2]} for place, at in enumerate(stripes)]
    hatch = {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 1, "stops": stops}
    fill = hatch if len(grid.rows) <= CANVAS_ABOVE else colour.MASKED
    return [
        {
            "transform": [{"filter": "datum.k > datum.q"}],
            "mark": {"type": "rect", "fill": fill, "tooltip": {"expr": _tooltip(grid, quoted("masked"))}},
        }
    ]


def _tooltip(grid: Grid, value: str) -> str:
    """An expression for what hovering shows: both names, both positions, the value."""
    row, column = grid.row_title, grid.column_title
    if row == column:
        row, column = f"{row} (row)", f"{column} (column)"
    return (
        f"{{{quoted(row)}: row_labels[datum.q] + ' · ' + datum.q, "
        f"{quoted(column)}: column_labels[datum.k] + ' · ' + datum.k, {quoted(grid.value_title)}: {value}}}"
    )


def _written(grid: Grid) -> list[dict[str, Any]]:
    """The numbers inside the cells, sized to fit them."""
    if not grid.written:
        return []
    text = {"value": {"expr": f"format(datum.value, {quoted(grid.value_format)})"}}
    size = {"expr": "clamp(bandwidth('x') / 3.4, 8, 13)"}
    layer: dict[str, Any] = {
        "mark": {"type": "text", "fontSize": size, "color": colour.on_cell("datum.value"), "aria": False},
        "encoding": {"text": text},
    }
    if grid.causal:
        layer["transform"] = [{"filter": "datum.k <= datum.q"}]
    return [layer]


def _outlines() -> list[dict[str, Any]]:
    """Chosen row lightly, chosen cell strongly; each stroke on a wider one of the page's colour."""
    row = {"x": {"value": 0}, "x2": {"value": "width"}}
    layers = []
    for dataset, encoding, width in (("chosen_row", row, 1.0), ("chosen_cell", {}, 2.0)):
        for stroke, extra in ((colour.PAPER, 2.0), (colour.INK, 0.0)):
            mark = {"type": "rect", "filled": False, "stroke": stroke, "strokeWidth": width + extra, "tooltip": None}
            layers.append({"data": {"name": dataset}, "mark": {**mark, "aria": False}, "encoding": encoding})
    return layers
