"""The drawing that heatmaps and strips share: a matrix of coloured cells from one flat column of numbers.

The browser derives row `q` and column `k` of each number from its place, so labels cost nothing per cell
and two equal tokens stay two rows. Labels are in parameters and are looked up by index.

Grids are written in Vega-Lite itself, and not in Altair as the plain charts are, because their specification is made
for changes in place: a moved outline or new numbers do not change the specification, and a long text does not make it
larger. Altair would itself decide on the names and the places of the data sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Axis, Domain, Scale
from lab.charts.base.figure import CANVAS_ABOVE, axis_text, base, label_extent, names, quoted, ticks, written

_LABELS_UP_TO = 128
_NUMBERS_UP_TO = 8
_TEXT = "cell_texts[datum.place - 1]"  # the text of a cell
_PARAMETERS = ("row_labels", "column_labels")

Chosen = tuple[int | None, int | None]


@dataclass(frozen=True)
class Texts:
    """Texts that cells show instead of their numbers: a title for the texts, and a text for each column of each row."""

    title: str
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Grid:
    """The settings of a grid of cells, without the numbers; titles are as the reader sees them, sizes are in pixels."""

    title: str
    axes: tuple[Axis, Axis]  # rows, columns
    scale: Scale
    limits: Domain  # of the colours
    outside: tuple[bool, bool] = (False, False)  # whether some numbers are below the limits, and above them
    cell_height: float | None = None  # in pixels; None: square cells, as far as the grid fits on a screen
    causal: bool = False
    texts: Texts | None = None
    shift: int = 0  # of a masked grid: number of rows by which its first row is below its first column's diagonal
    window: int | None = None  # of a local layer: number of places that a query sees to either side
    large: bool = False  # true for a page's small main figure: a grid twice as high, with larger numbers

    @classmethod
    def of(
        cls, values: NDArray[np.float32], title: str, axes: tuple[Axis, Axis], scale: Scale, **settings: Any
    ) -> Self:
        """Return the grid of these ``values``, which decide where its colours end."""
        limits = scale.colour_limits(values)
        return cls(title, axes, scale, limits, beyond(values, limits), **settings)

    @property
    def hides(self) -> bool:
        """True if some cells are masked."""
        return self.causal or self.window is not None

    @property
    def exists(self) -> dict[str, str]:
        """The filter that keeps the cells that a causal model or a local layer computes."""
        if self.window is not None:
            return {"filter": f"abs(datum.k - datum.q - {self.shift}) <= {self.window}"}
        return {"filter": f"datum.k <= datum.q + {self.shift}"}

    @property
    def masked(self) -> dict[str, str]:
        """The filter that keeps the other cells."""
        return {"filter": f"!({self.exists['filter']})"}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.axes[0].names), len(self.axes[1].names)

    @property
    def longest(self) -> int:
        """The number of cells on the longer side."""
        return max(self.shape)


def widest(columns: int) -> int:
    """Return the maximal width in pixels of a grid of square cells, with row labels, their title and margin."""
    return 96 * columns + 110


def _heights(rows: int, large: bool) -> tuple[int, int]:
    """The least and the greatest height of `rows` in pixels; the rows and the words around them fit on a screen."""
    return min(20 * rows, 160), min((110 if large else 48) * rows, max(480, 5 * rows))


def flat(values: NDArray[np.float32]) -> pd.DataFrame:
    """Return a matrix as one column, row after row, which is the cheapest form to send to the browser."""
    return pd.DataFrame({"value": values.ravel()})


def grid_spec(grid: Grid, chosen: Chosen) -> dict[str, Any]:
    """Return the Vega-Lite specification of `grid`, with the row, column or cell that is `chosen` outlined."""
    rows, columns = grid.shape
    least, most = _heights(rows, grid.large)
    height = most if grid.cell_height is None else grid.cell_height * rows
    spec = base(grid.title, height, canvas=grid.longest > CANVAS_ABOVE)
    spec["params"] += [names(name, axis.names) for name, axis in zip(_PARAMETERS, grid.axes, strict=True)]
    if grid.texts is not None:
        spec["params"].append(names("cell_texts", [text for row in grid.texts.rows for text in row]))
    if grid.cell_height is None:
        # with "fit-x", `width` is the room left for the cells: cells stay square as long as the screen has room
        spec["params"].append({"name": "height", "expr": f"clamp(width * {rows} / {columns}, {least}, {most})"})
    spec["datasets"] = _outlined(chosen)
    spec["transform"] = [
        {"window": [{"op": "row_number", "as": "place"}]},
        {"calculate": f"floor((datum.place - 1) / {columns})", "as": "q"},
        {"calculate": f"(datum.place - 1) % {columns}", "as": "k"},
    ]
    down = _down(grid)
    spec["encoding"] = {"x": _across(grid), "y": {**down, "axis": None}}
    spec["resolve"] = {"axis": {"y": "independent"}}  # the cells have a left axis of their own, see `_margin`
    marks = [_cells(grid, down), *_grey(grid), *_written(grid), *_outlines(_margin(down))]
    spec["layer"] = [*marks, *scale_bar(grid.scale, grid.limits, grid.outside)]
    return spec


def _outlined(chosen: Chosen) -> dict[str, list[dict[str, int]]]:
    """Return the outlines as separate data sets, so that a moved outline does not change the specification.

    Never use only one data set: Streamlit 1.67 puts the chart's own numbers into a single named data set.
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
    """Encode the columns: the labels are above, horizontal if there is room, otherwise upright."""
    columns, count = grid.axes[1], grid.shape[1]
    axis = _axis(columns.names, _PARAMETERS[1]) | {"orient": "top"}
    crowded = f"bandwidth('x') < {axis['labelLimit'] + 2}"
    if columns.counts:
        crowded = "false"
        axis |= {"values": ticks(count), "labels": True, "labelLimit": 40}
    axis |= {
        "labelAngle": {"expr": f"{crowded} ? -90 : 0"},
        "labelAlign": {"expr": f"{crowded} ? 'left' : 'center'"},
        "labelBaseline": {"expr": f"{crowded} ? 'middle' : 'bottom'"},
    }
    return _band("k", columns.title, count, 0.04 if count <= 24 else 0) | {"axis": axis}


def _down(grid: Grid) -> dict[str, Any]:
    """Rows, from top to bottom. The labels of the rows take a fixed width; `_margin` gives the reason."""
    rows, count = grid.axes[0], grid.shape[0]
    axis = _axis(rows.names, _PARAMETERS[0]) | {"orient": "left"}
    # half a pixel, because on a whole pixel rounding noise in the turned title would change the margin
    extent = axis["labelLimit"] + axis["labelPadding"] + 0.5
    gap = 0.2 if grid.cell_height is not None else 0.04 if count <= 24 else 0
    return _band("q", rows.title, count, gap) | {"axis": axis | {"minExtent": extent, "maxExtent": extent}}


def _margin(down: dict[str, Any]) -> dict[str, Any]:
    """Return an empty right-hand axis, which makes a margin of constant width.

    Without it the last column's label juts out by a pixel or not, which changes the width left for the cells,
    hence the height, hence which labels are drawn ... and Vega ends in "Maximum call stack size exceeded".
    """
    axis = {"orient": "right", "title": None, "labels": False, "ticks": False, "domain": False, "grid": False}
    return {**down, "axis": axis | {"minExtent": 10, "maxExtent": 10}}


def _cells(grid: Grid, down: dict[str, Any]) -> dict[str, Any]:
    mark: dict[str, Any] = {"type": "rect", "tooltip": _value_told(grid)}
    if grid.longest > CANVAS_ABOVE:
        mark["aria"] = False  # a canvas has no nodes that could have a description
    else:
        q, k = _names(grid)
        mark["description"] = {"expr": f"{q} + ', ' + {k} + ': ' + format(datum.value, '.6~g')"}
    layer: dict[str, Any] = {"mark": mark, "encoding": {"y": down, "color": colours(grid.scale, grid.limits)}}
    if grid.hides:
        layer["transform"] = [grid.exists]
    return layer


def answering(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a grid whose cells, its first layer, answer a click."""
    cells, *others = spec["layer"]
    select = {"type": "point", "fields": ["q", "k"], "toggle": False, "clear": False}
    click = {"mark": cells["mark"] | {"cursor": "pointer"}, "params": [{"name": "cell", "select": select}]}
    return {**spec, "layer": [cells | click, *others]}


def _value_told(grid: Grid) -> dict[str, str]:
    """The tooltip of a cell, and of the text in the cell."""
    return {"expr": _tooltip(grid, "format(datum.value, '.6~g')")}


def _tooltip(grid: Grid, value: str) -> str:
    """Return an expression for the tooltip: both names, both positions, the value."""
    row, column = (axis.title or name for axis, name in zip(grid.axes, ("Row", "Column"), strict=True))
    if row == column:
        row, column = f"{row} (row)", f"{column} (column)"
    q, k = _names(grid)
    written = "" if grid.texts is None else f"{quoted(grid.texts.title)}: {_TEXT}, "
    return f"{{{quoted(row)}: {q}, {quoted(column)}: {k}, {written}{quoted(grid.scale.title)}: {value}}}"


def _names(grid: Grid) -> list[str]:
    """Expressions for the labels of a row and a column, with their positions if they have any: "3 · cat"."""
    return [
        ("" if axis.first is None else f"(datum.{field} + {axis.first}) + ' · ' + ") + f"{parameter}[datum.{field}]"
        for axis, field, parameter in zip(grid.axes, "qk", _PARAMETERS, strict=True)
    ]


def _grey(grid: Grid) -> list[dict[str, Any]]:
    """Draw cells that a causal model or a local layer hides in grey, because these cells are missing, not zero."""
    if not grid.hides:
        return []
    tooltip = {"expr": _tooltip(grid, quoted("masked"))}
    mark = {"type": "rect", "fill": colour.MASKED, "tooltip": tooltip, "aria": False}
    return [{"transform": [grid.masked], "mark": mark}]


def _written(grid: Grid) -> list[dict[str, Any]]:
    """Return the numbers inside the cells of a small grid, sized to fit them; or the cells' texts, cut to fit."""
    if grid.texts is None and grid.longest > _NUMBERS_UP_TO:
        return []
    mark = {"type": "text", "color": colour.on_cell("datum.value"), "aria": False, "tooltip": _value_told(grid)}
    if grid.texts is None:
        shown = written(grid.scale.format)
        mark |= {"fontSize": {"expr": f"clamp(bandwidth('x') / 3.4, 8, {18 if grid.large else 13})"}}
    else:
        shown, mark = _TEXT, mark | {"limit": {"expr": "bandwidth('x') - 2"}}
        mark["fontSize"] = {"expr": "clamp(bandwidth('x') / 3.4, 9, 12)"}
    layer: dict[str, Any] = {"mark": mark, "encoding": {"text": {"value": {"expr": shown}}}}
    if grid.hides:
        layer["transform"] = [grid.exists]
    return [layer]


def _outlines(margin: dict[str, Any]) -> list[dict[str, Any]]:
    """Outline row and column lightly, the cell strongly; under each stroke is a wider one in the page's colour."""
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


_WIDTH, _STEPS = 180, 60  # pixels, and pieces of the bar
_TITLE, _BAR, _THICK, _NUMBERS = 24, 34, 12, 49  # pixels below the cells


def colours(scale: Scale, limits: Domain) -> dict[str, Any]:
    """Return the encoding of ``value`` as a colour between ``limits``; :func:`scale_bar` is its legend."""
    ramp = {"domain": list(limits), "range": colour.ramp(scale.signed), "interpolate": "rgb", "clamp": True}
    return {"field": "value", "type": "quantitative", "scale": ramp, "legend": None}


def beyond(values: NDArray[np.float32], limits: Domain) -> tuple[bool, bool]:
    """Return whether some ``values`` are below the colours' ``limits``, and whether some are above them."""
    margin = 1e-6 * (limits[1] - limits[0])
    return bool(values.min() < limits[0] - margin), bool(values.max() > limits[1] + margin)


def scale_bar(scale: Scale, limits: Domain, outside: tuple[bool, bool]) -> list[dict[str, Any]]:
    """Return the layers of the legend: the quantity, the bar, and the numbers at its ends and in the middle.

    ``outside`` is :func:`beyond` of the numbers: an end beyond which there are some reads "≤ −3" or "≥ 3".
    """
    ends = {"x": {"value": 0}, "x2": {"value": _WIDTH}, "y": _below(_BAR), "y2": _below(_BAR + _THICK)}
    frame = {"type": "rect", "filled": False, "stroke": colour.SOFT_INK, "strokeWidth": 0.5}
    low, high = limits
    numbers: tuple[tuple[str, float, float, str], ...] = (
        ("≤ " * outside[0], low, 0, "left"),
        ("", (low + high) / 2, _WIDTH / 2, "center"),
        ("≥ " * outside[1], high, _WIDTH, "right"),
    )
    return [
        _pieces(scale, limits),
        _layer(frame, ends),
        _text(quoted(scale.title), 0, _TITLE, "left", fontSize=11, fontWeight="bold"),
        *(
            # From their top, so that larger numbers, as on a wall, grow away from the bar.
            _text(f"'{sign}' + {_number(scale, value)}", x, _NUMBERS, align, fontSize=11, baseline="top")
            for sign, value, x, align in numbers
        ),
    ]


def _pieces(scale: Scale, limits: Domain) -> dict[str, Any]:
    """Return the layer of the bar itself; each piece reaches a little below the next, so that no line is between."""
    (low, high), piece = limits, _WIDTH / _STEPS
    calculated = {
        "value": f"{low!r} + (datum.piece + 0.5) * {(high - low) / _STEPS!r}",
        "bar_left": f"datum.piece * {piece}",
        "bar_right": f"min(datum.piece * {piece} + {piece + 0.4}, {_WIDTH})",
    }
    encoding = {
        "x": {"field": "bar_left", "type": "quantitative", "scale": None, "axis": None},
        "x2": {"field": "bar_right"},
        "y": _below(_BAR),
        "y2": _below(_BAR + _THICK),
        "color": colours(scale, limits),
    }
    return {
        **_layer({"type": "rect"}, encoding),
        "data": {"sequence": {"start": 0, "stop": _STEPS, "as": "piece"}},
        "transform": [{"calculate": formula, "as": name} for name, formula in calculated.items()],
    }


def _text(expression: str, x: float, below: int, align: str, **look: Any) -> dict[str, Any]:
    mark = {"type": "text", "align": align, "baseline": "alphabetic", "color": colour.SOFT_INK, **look}
    return _layer(mark, {"x": {"value": x}, "y": _below(below), "text": {"value": {"expr": expression}}})


def _layer(mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"values": [{}]}, "mark": mark | {"aria": False, "tooltip": None}, "encoding": encoding}


def _below(pixels: int) -> dict[str, Any]:
    return {"value": {"expr": f"height + {pixels}"}}


def _number(scale: Scale, value: float) -> str:
    return f"format({value!r}, {quoted('.0%' if scale.format.endswith('%') else '.3~g')})"
