"""The drawing under heatmaps and strips: a matrix of coloured cells from one flat column of numbers.

The browser derives row `q` and column `k` of each number from its place, so labels cost nothing per cell
and two equal tokens stay two rows. Labels live in parameters and are looked up by index.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.charts.base import colour
from lab.charts.base.figure import CANVAS_ABOVE, axis_text, base, label_extent, names, quoted, written

_LABELS_UP_TO = 128
_NUMBERS_UP_TO = 8
_TEXT = "cell_texts[datum.place - 1]"  # of a cell

Chosen = tuple[int | None, int | None]


@dataclass(frozen=True)
class Grid:
    """All that a grid of cells needs beside its numbers; titles as the reader sees them, sizes in pixels."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    row_title: str
    column_title: str
    value_title: str
    scale: colour.Scale
    domain: tuple[float, float]
    value_format: str
    cell_height: float
    square: bool = True
    causal: bool = False
    clickable: bool = False
    numbered: bool = False
    column_ticks: Sequence[int] | None = None
    texts: Sequence[str] | None = None  # of the cells, row after row, in place of their numbers
    text_title: str = "Text"
    shift: int = 0  # of a masked grid: how many rows its first row lies below its first column's diagonal
    window: int | None = None  # of a local layer: how many places to either side a query sees

    @property
    def hides(self) -> bool:
        """Whether some cells are masked."""
        return self.causal or self.window is not None

    @property
    def exists(self) -> dict[str, str]:
        """The filter that keeps what a causal model or a local layer computes."""
        if self.window is not None:
            return {"filter": f"abs(datum.k - datum.q - {self.shift}) <= {self.window}"}
        return {"filter": f"datum.k <= datum.q + {self.shift}"}

    @property
    def masked(self) -> dict[str, str]:
        """The filter that keeps the rest."""
        return {"filter": f"!({self.exists['filter']})"}

    @property
    def longest(self) -> int:
        """The longer side, in cells."""
        return max(len(self.rows), len(self.columns))


def flat(values: NDArray[np.float32]) -> pd.DataFrame:
    """A matrix as one column, row after row: the cheapest way to the browser."""
    return pd.DataFrame({"value": values.ravel()})


def span(values: NDArray[np.float32], scale: colour.Scale) -> tuple[float, float]:
    """The domain that shows `values` best: from 0 to the largest, or as far below zero as above."""
    high = float(values.max() if scale == "sequential" else np.abs(values).max())
    high = high if high > 0 else 1.0
    return (min(0.0, float(values.min())), high) if scale == "sequential" else (-high, high)


def grid_spec(grid: Grid, chosen: Chosen) -> dict[str, Any]:
    """The Vega-Lite specification of `grid`, with the row, column or cell that is `chosen` outlined."""
    rows, columns = len(grid.rows), len(grid.columns)
    spec = base(grid.title, grid.cell_height * rows, canvas=grid.longest > CANVAS_ABOVE)
    spec["params"] += [names("row_labels", grid.rows), names("column_labels", grid.columns)]
    if grid.texts is not None:
        spec["params"].append(names("cell_texts", grid.texts))
    if grid.square:
        # "fit-x" makes `width` the room left for the cells: this keeps them square however wide the page is
        spec["params"].append({"name": "height", "expr": f"width * {rows} / {columns}"})
    spec["datasets"] = _outlined(chosen)
    spec["transform"] = [
        {"window": [{"op": "row_number", "as": "place"}]},
        {"calculate": f"floor((datum.place - 1) / {columns})", "as": "q"},
        {"calculate": f"(datum.place - 1) % {columns}", "as": "k"},
    ]
    down = _down(grid)
    spec["encoding"] = {"x": _across(grid), "y": {**down, "axis": None}}
    spec["resolve"] = {"axis": {"y": "independent"}}  # the left axis is the cells' own, see `_margin`
    spec["layer"] = [_cells(grid, down), *_hatching(grid), *_written(grid), *_outlines(_margin(down))]
    return spec


def _outlined(chosen: Chosen) -> dict[str, list[dict[str, int]]]:
    """The outlines as data sets of their own, so that moving them leaves the specification as it is.

    Never reduce them to one: a single named data set is where Streamlit 1.67 puts the chart's own numbers.
    """
    q, k = chosen
    return {
        "chosen_row": [{"q": q}] if q is not None else [],
        "chosen_column": [{"k": k}] if q is None and k is not None else [],
        "chosen_cell": [{"q": q, "k": k}] if q is not None and k is not None else [],
    }


def _band(field: str, title: str, count: int, gap: float) -> dict[str, Any]:
    scale = {"domain": list(range(count)), "paddingInner": gap, "paddingOuter": 0}
    return {"field": field, "type": "ordinal", "title": title, "scale": scale}


def _axis(labels: Sequence[str], parameter: str) -> dict[str, Any]:
    shown = len(labels) <= _LABELS_UP_TO
    size = 12 if len(labels) <= 24 else 10
    return {
        **axis_text(size),
        "labels": shown,
        "labelExpr": f"{parameter}[datum.value]",
        "labelLimit": label_extent(labels, size) if shown else 0,
        "labelOverlap": "parity",
        "labelSeparation": 1,
    }


def _across(grid: Grid) -> dict[str, Any]:
    """Columns: labels above, lying flat where there is room, else upright."""
    axis = _axis(grid.columns, "column_labels") | {"orient": "top"}
    crowded = f"bandwidth('x') < {axis['labelLimit'] + 2}"
    if grid.column_ticks is not None:
        crowded = "false"
        axis |= {"values": list(grid.column_ticks), "labels": True, "labelLimit": 40}
    axis |= {
        "labelAngle": {"expr": f"{crowded} ? -90 : 0"},
        "labelAlign": {"expr": f"{crowded} ? 'left' : 'center'"},
        "labelBaseline": {"expr": f"{crowded} ? 'middle' : 'bottom'"},
    }
    gap = 0.04 if len(grid.columns) <= 24 else 0
    return _band("k", grid.column_title, len(grid.columns), gap) | {"axis": axis}


def _down(grid: Grid) -> dict[str, Any]:
    """Rows, from top to bottom. Their labels take a fixed width: see `_margin` for why."""
    axis = _axis(grid.rows, "row_labels") | {"orient": "left"}
    # Half a pixel: on a whole one, rounding noise in the turned title would tip the margin either way
    extent = axis["labelLimit"] + axis["labelPadding"] + 0.5
    gap = 0.2 if not grid.square else 0.04 if len(grid.rows) <= 24 else 0
    return _band("q", grid.row_title, len(grid.rows), gap) | {"axis": axis | {"minExtent": extent, "maxExtent": extent}}


def _margin(down: dict[str, Any]) -> dict[str, Any]:
    """A right-hand axis with nothing on it: a margin of constant width.

    Without it the last column's label juts out by a pixel or not, which changes the width left for the cells,
    hence the height, hence which labels are drawn ... and Vega ends in "Maximum call stack size exceeded".
    """
    axis = {"orient": "right", "title": None, "labels": False, "ticks": False, "domain": False, "grid": False}
    return {**down, "axis": axis | {"minExtent": 10, "maxExtent": 10}}


def _cells(grid: Grid, down: dict[str, Any]) -> dict[str, Any]:
    colours = {"domain": list(grid.domain), "range": colour.ramp(grid.scale), "interpolate": "rgb", "clamp": True}
    mark: dict[str, Any] = {"type": "rect", "tooltip": {"expr": _tooltip(grid, "format(datum.value, '.6~g')")}}
    if grid.longest > CANVAS_ABOVE:
        mark["aria"] = False  # a canvas has no nodes to describe
    else:
        q, k = _name(grid, "row_labels", "q"), _name(grid, "column_labels", "k")
        mark["description"] = {"expr": f"{q} + ', ' + {k} + ': ' + format(datum.value, '.6~g')"}
    color = {"field": "value", "type": "quantitative", "scale": colours, "legend": _legend(grid)}
    layer: dict[str, Any] = {"mark": mark, "encoding": {"y": down, "color": color}}
    if grid.hides:
        layer["transform"] = [grid.exists]
    if grid.clickable:
        mark["cursor"] = "pointer"
        select = {"type": "point", "fields": ["q", "k"], "toggle": False, "clear": False}
        layer["params"] = [{"name": "cell", "select": select}]
    return layer


def _legend(grid: Grid) -> dict[str, Any]:
    low, high = grid.domain
    return {
        "title": grid.value_title,
        "orient": "bottom",
        "direction": "horizontal",
        "gradientLength": 150,
        "gradientThickness": 10,
        "values": [low, (low + high) / 2, high],
        "format": ".3~g",
        "titleLimit": 180,
        "titleColor": colour.SOFT_INK,
        "labelColor": colour.SOFT_INK,
        "offset": 10,
        "padding": 0,
    }


def _tooltip(grid: Grid, value: str) -> str:
    """An expression for what hovering shows: both names, both positions, the value."""
    row, column = grid.row_title or "Row", grid.column_title or "Column"
    if row == column:
        row, column = f"{row} (row)", f"{column} (column)"
    q, k = _name(grid, "row_labels", "q"), _name(grid, "column_labels", "k")
    written = "" if grid.texts is None else f"{quoted(grid.text_title)}: {_TEXT}, "
    return f"{{{quoted(row)}: {q}, {quoted(column)}: {k}, {written}{quoted(grid.value_title)}: {value}}}"


def _name(grid: Grid, parameter: str, field: str) -> str:
    """An expression for a label, with its position from 1 where the grid is numbered: "3 · cat"."""
    label = f"{parameter}[datum.{field}]"
    return f"(datum.{field} + 1) + ' · ' + {label}" if grid.numbered else label


def _hatching(grid: Grid) -> list[dict[str, Any]]:
    """What a causal model or a local layer hides is no zero: these cells do not exist."""
    if not grid.hides:
        return []
    stripes = 6 if grid.longest <= _NUMBERS_UP_TO else 2 if grid.longest <= CANVAS_ABOVE else 0
    tooltip = {"expr": _tooltip(grid, quoted("masked"))}
    mark = {"type": "rect", "fill": colour.masked(stripes), "tooltip": tooltip, "aria": False}
    return [{"transform": [grid.masked], "mark": mark}]


def _written(grid: Grid) -> list[dict[str, Any]]:
    """The numbers inside the cells of a small grid, sized to fit them; or the cells' texts, cut to fit."""
    if grid.texts is None and grid.longest > _NUMBERS_UP_TO:
        return []
    mark = {"type": "text", "color": colour.on_cell("datum.value"), "aria": False}
    if grid.texts is None:
        shown = written(grid.value_format)
        mark |= {"fontSize": {"expr": "clamp(bandwidth('x') / 3.4, 8, 13)"}}
    else:
        shown, mark = _TEXT, mark | {"fontSize": 12, "limit": {"expr": "bandwidth('x') - 4"}}
    layer: dict[str, Any] = {"mark": mark, "encoding": {"text": {"value": {"expr": shown}}}}
    if grid.hides:
        layer["transform"] = [grid.exists]
    return [layer]


def _outlines(margin: dict[str, Any]) -> list[dict[str, Any]]:
    """Row and column lightly, the cell strongly; each stroke lies on a wider one in the page's colour."""
    across = {"x": {"value": 0}, "x2": {"value": "width"}}
    down = {"y": {"value": 0}, "y2": {"value": "height"}}
    kinds: tuple[tuple[str, dict[str, Any], float], ...]
    kinds = (("chosen_row", across, 1.0), ("chosen_column", down, 1.0), ("chosen_cell", {}, 2.5))
    layers: list[dict[str, Any]] = []
    for dataset, encoding, width in kinds:
        for stroke, halo in ((colour.PAPER, 2.5), (colour.INK, 0.0)):
            mark = {"type": "rect", "filled": False, "stroke": stroke, "strokeWidth": width + halo, "aria": False}
            layers.append({"data": {"name": dataset}, "mark": mark | {"tooltip": None}, "encoding": {**encoding}})
    layers[0]["encoding"]["y"] = margin
    return layers
