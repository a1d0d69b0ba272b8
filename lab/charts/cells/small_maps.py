"""Draw all heads of a layer as small maps in rows, on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Axis, Domain, Scale, visible
from lab.charts.base.chart_table import unique_names
from lab.charts.base.figure import CellFigure, base, check_index, names, numbers, quoted
from lab.charts.cells.grid import beyond, colours, flat, scale_bar

_CAPTION = 40  # pixels above each map for its two lines
_GAP = 14
_WIDEST = 250  # pixels of one map
_MANY = 16  # up to this number of maps the gaps are wide
_NARROW = 480  # pixels: a narrower page shows fewer maps in a row
_FEW_CELLS = 24  # cells on a side; up to this number there are gaps between cells
_Step = dict[str, str]  # a transform

# The corner of a map: `place` counts maps from 0. The page's width decides how many maps are in a row.
_CORNER = [
    {"calculate": f"(datum.map % per_row) * (side + {_GAP})", "as": "left"},
    {"calculate": f"floor(datum.map / per_row) * (side + {_CAPTION + _GAP}) + {_CAPTION}", "as": "top"},
]


@dataclass(frozen=True)
class SmallMaps(CellFigure):
    """Maps, each of which answers a click; the sides of ``values`` are the maps, their rows and their columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of maps, and the rows of one map."""
        count, m, _ = self.values.shape
        return count, m

    def framed(self, place: int, row: int | None = None) -> Self:
        """Return these maps with a frame around one map, and around one row of every map, both counted from 0.

        Raises ValueError if there is no such map or row.
        """
        count, m = self.shape
        check_index(place, count, of="small maps", what="map")
        check_index(row, m, of="small maps", what="row")
        rows = [] if row is None else [{"map": each, "q": row} for each in range(count)]
        frames = self.spec["datasets"] | {"chosen_map": [{"map": place}], "chosen_row": rows}
        return replace(self, spec=self.spec | {"datasets": frames})

    def clicked(self, event: Mapping[str, Any]) -> int | None:
        """Return the map clicked last, from 0, or None; ``event`` is the event that the chart returns."""
        for cell in event.get("selection", {}).get("map") or ():
            place = cell.get("map")
            if isinstance(place, int | float) and 0 <= place < self.shape[0]:
                return int(place)
        return None


def small_maps(
    values: ArrayLike,
    cells: Sequence[str],
    captions: Sequence[tuple[str, str]],
    scale: Scale,
    *,
    title: str,
    causal: bool = False,
) -> SmallMaps:
    """Draw `values` (maps, cells, cells) as small square maps, four in a row (eight above 16), two on a telephone.

    Parameters
    ----------
    cells
        A name for each row and column, queries down and keys across; data, not markup.
    captions
        Two short lines above each map.
    causal
        Cells above the diagonal do not exist.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    array = numbers(values, ("maps", "rows", "columns"), of="small maps")
    count, m, _ = array.shape
    wide = min(count, 4 if count <= _MANY else 8)
    spec = base(title, 200, canvas=array.size > 44**2)
    spec["params"] += [names("cell_labels", cells), *_layout(captions, wide)]
    spec["datasets"] = {"maps": [{"map": place} for place in range(count)], "chosen_map": [], "chosen_row": []}
    limits = scale.colour_limits(array)
    spec["layer"] = [*_frames(causal), _cells(m, scale, limits, causal), *_captions(), *_chosen(m)]
    spec["layer"] += scale_bar(scale, limits, beyond(array, limits))
    width, told = wide * (_WIDEST if count <= _MANY else _WIDEST // 2), _describe(array, captions)
    return SmallMaps(
        spec=spec,
        data=flat(array),
        width=width,
        alt=told,
        table=partial(_table, array, cells, captions, causal),
        title=title,
        values=array,
        axes=(Axis("Map", [name for name, _ in captions], things="maps"), Axis("Query", cells), Axis("Key", cells)),
        scale=scale,
        causal=causal,
    )


def _layout(captions: Sequence[tuple[str, str]], wide: int) -> list[dict[str, Any]]:
    """Parameters: the captions, the number of maps in a row, the side of a map, and the height of the whole."""
    count = len(captions)
    return [
        {"name": "first_lines", "value": [visible(name) for name, _ in captions]},
        {"name": "second_lines", "value": [visible(text, None) for _, text in captions]},
        {"name": "per_row", "expr": f"width < {_NARROW} ? {min(wide, 2 if count <= _MANY else 4)} : {wide}"},
        {"name": "side", "expr": f"(width - (per_row - 1) * {_GAP}) / per_row"},
        {"name": "height", "expr": f"ceil({count} / per_row) * (side + {_CAPTION + _GAP}) - {_GAP}"},
    ]


def _pixels(field: str) -> dict[str, Any]:
    """Encode a field whose values are already in pixels."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def _box(width: str, height: str, down: Sequence[_Step] = ()) -> tuple[list[_Step], dict[str, Any]]:
    """Transforms and encoding of a box at a map's corner, moved by the transforms ``down``; sizes are expressions."""
    ends = [
        {"calculate": f"datum.left + {width}", "as": "right"},
        {"calculate": f"datum.top + {height}", "as": "bottom"},
    ]
    encoding = {"x": _pixels("left"), "x2": {"field": "right"}, "y": _pixels("top"), "y2": {"field": "bottom"}}
    return [*_CORNER, *down, *ends], encoding


def _frames(causal: bool) -> list[dict[str, Any]]:
    """Draw the background of each map; a cell without a mark on the background does not exist."""
    transform, encoding = _box("side", "side")
    mark: dict[str, Any] = {"type": "rect", "fill": colour.MASKED if causal else None, "stroke": colour.SOFT_INK}
    mark |= {"strokeOpacity": 0.3, "aria": False, "tooltip": None}
    return [{"data": {"name": "maps"}, "transform": transform, "mark": mark, "encoding": encoding}]


def _cells(m: int, scale: Scale, limits: Domain, causal: bool) -> dict[str, Any]:
    gap = "side * 0.04 / " + str(m) if m <= _FEW_CELLS else "-0.3"
    transform: list[dict[str, Any]] = [
        {"window": [{"op": "row_number", "as": "place"}]},
        {"calculate": f"floor((datum.place - 1) / {m * m})", "as": "map"},
        {"calculate": f"floor(((datum.place - 1) % {m * m}) / {m})", "as": "q"},
        {"calculate": f"(datum.place - 1) % {m}", "as": "k"},
    ]
    if causal:
        transform.append({"filter": "datum.k <= datum.q"})
    transform += _CORNER
    for start, end, corner, index in (("x", "x2", "left", "k"), ("y", "y2", "top", "q")):
        transform += [
            {"calculate": f"datum.{corner} + datum.{index} * side / {m}", "as": start},
            {"calculate": f"datum.{start} + side / {m} - {gap}", "as": end},
        ]
    query, key = (f"(datum.{index} + 1) + ' · ' + cell_labels[datum.{index}]" for index in "qk")
    shown = (
        f"{{'Map': first_lines[datum.map], 'Query': {query}, 'Key': {key}, "
        f"{quoted(scale.title)}: format(datum.value, '.6~g')}}"
    )
    x, y = ({axis: _pixels(axis), f"{axis}2": {"field": f"{axis}2"}} for axis in "xy")
    return {
        "transform": transform,
        "mark": {"type": "rect", "cursor": "pointer", "aria": False, "tooltip": {"expr": shown}},
        "params": [{"name": "map", "select": {"type": "point", "fields": ["map"], "toggle": False, "clear": False}}],
        "encoding": {**x, **y, "color": colours(scale, limits)},
    }


def _captions() -> list[dict[str, Any]]:
    """Draw the two lines above each map, cut where the next map begins."""
    layers = []
    for lines, above, ink, weight in (
        ("first_lines", 26, colour.INK, "bold"),
        ("second_lines", 10, colour.SOFT_INK, "normal"),
    ):
        mark = {"type": "text", "align": "left", "baseline": "middle", "dy": -above, "fontSize": 12, "aria": False}
        mark |= {"fontWeight": weight, "color": ink, "limit": {"expr": "side"}, "tooltip": None}
        encoding = {"x": _pixels("left"), "y": _pixels("top"), "text": {"field": "line", "type": "nominal"}}
        transform = [*_CORNER, {"calculate": f"{lines}[datum.map]", "as": "line"}]
        layers.append({"data": {"name": "maps"}, "transform": transform, "mark": mark, "encoding": encoding})
    return layers


def _chosen(m: int) -> list[dict[str, Any]]:
    """Draw frames around the chosen row and the chosen map: each is a stroke on a wider stroke in the page's colour."""
    layers = []
    row = {"calculate": f"datum.top + datum.q * side / {m}", "as": "top"}
    for dataset, height, strokes in (
        ("chosen_row", f"side / {m}", ((colour.PAPER, 2.5), (colour.INK, 1.0))),
        ("chosen_map", "side", ((colour.PAPER, 5.0), (colour.INK, 2.5))),
    ):
        transform, encoding = _box("side", height, [row] if dataset == "chosen_row" else [])
        for stroke, wide in strokes:
            mark = {"type": "rect", "filled": False, "stroke": stroke, "strokeWidth": wide, "aria": False}
            drawn = {"transform": transform, "mark": mark | {"tooltip": None}, "encoding": encoding}
            layers.append({"data": {"name": dataset}, **drawn})
    return layers


def _describe(array: NDArray[np.float32], captions: Sequence[tuple[str, str]]) -> str:
    told = "; ".join(f"{visible(name)}: {visible(text, None)}" if text else visible(name) for name, text in captions)
    return f"{len(array)} maps, each {array.shape[1]} by {array.shape[1]}, on one colour scale. {told}."


def _table(
    array: NDArray[np.float32], cells: Sequence[str], captions: Sequence[tuple[str, str]], causal: bool
) -> pd.DataFrame:
    """One row for each cell that exists."""
    exists = np.tri(array.shape[1]) > 0 if causal else np.ones(array.shape[1:], dtype=bool)
    place, q, k = np.nonzero(np.broadcast_to(exists, array.shape))
    labels, maps = np.asarray(unique_names(cells)), np.asarray([name for name, _ in captions])
    return pd.DataFrame({"map": maps[place], "query": labels[q], "key": labels[k], "value": array[place, q, k]})


def block_names(labels: Sequence[str], block: int) -> Sequence[str]:
    """Names for the cells of a map that cover ``block`` tokens each: "1–11", "12–22" …, or the labels for one token."""
    if block == 1:
        return labels
    n = len(labels)
    return [f"{start + 1}–{min(n, start + block)}" for start in range(0, math.ceil(n / block) * block, block)]
