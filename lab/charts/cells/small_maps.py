"""All heads of a layer as small maps beside each other, on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import colour
from lab.charts.base.figure import Figure, base, check_index, check_labels, checked_domain, names, numbers, quoted
from lab.charts.base.labels import visible
from lab.charts.base.tables import unique_names
from lab.charts.cells.grid import flat

_CAPTION = 40  # pixels above each map for its two lines
_GAP = 14
_WIDEST = 250  # pixels of one map
_MANY = 16  # maps; more stand closer
_NARROW = 480  # pixels: a page narrower than that shows fewer maps in a row
_FEW_CELLS = 24  # a side; up to here cells stand apart

# Where a map stands: `place` counts maps from 0. The page's width decides how many stand in a row.
_CORNER = [
    {"calculate": f"(datum.map % per_row) * (side + {_GAP})", "as": "left"},
    {"calculate": f"floor(datum.map / per_row) * (side + {_CAPTION + _GAP}) + {_CAPTION}", "as": "top"},
]


@dataclass(frozen=True)
class SmallMaps(Figure):
    """A Figure of ``count`` maps, each of which answers a click."""

    count: int

    def clicked(self, event: Mapping[str, Any]) -> int | None:
        """The map clicked last, from 0, or None; ``event`` is what the chart returns."""
        for cell in event.get("selection", {}).get("map") or ():
            place = cell.get("map")
            if isinstance(place, int | float) and 0 <= place < self.count:
                return int(place)
        return None


def small_maps(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    values: ArrayLike,
    cells: Sequence[str],
    captions: Sequence[tuple[str, str]],
    *,
    title: str,
    value_title: str,
    domain: tuple[float, float],
    scale: colour.Scale = "sequential",
    highlight: int | None = None,
    row: int | None = None,
    causal: bool = False,
) -> SmallMaps:
    """Draw `values` (maps, cells, cells) as small square maps, four in a row (eight above 16), two on a telephone.

    Parameters
    ----------
    cells : a name for each row and column, queries down and keys across; data, not markup.
    captions : two short lines above each map.
    domain : values at the ends of the one colour scale.
    scale : "sequential" for values from 0 up, "diverging" for signed ones.
    highlight : the map (from 0) that is framed.
    row : the row (from 0) that is framed in every map.
    causal : cells above the diagonal do not exist.

    Raises
    ------
    ValueError : NaN, infinity, maps that are not square, a wrong number of names or captions.
    """
    array = numbers(values, ("maps", "rows", "columns"), of="small maps")
    count, m, across = array.shape
    if m != across:
        raise ValueError(f"small maps: each map has as many rows as columns, these are {m} by {across}.")
    check_labels(m, cells, of="small maps", what="rows")
    check_labels(count, [name for name, _ in captions], of="small maps", what="maps")
    check_index(highlight, count, of="small maps", what="map")
    check_index(row, m, of="small maps", what="row")
    limits = checked_domain(domain, of="small maps")
    wide = min(count, 4 if count <= _MANY else 8)
    spec = base(title, 200, canvas=array.size > 44**2)
    spec["params"] += [names("cell_labels", cells), *_layout(captions, wide)]
    spec["datasets"] = {
        "maps": [{"map": place} for place in range(count)],
        "chosen_map": [] if highlight is None else [{"map": highlight}],
        "chosen_row": [] if row is None else [{"map": place, "q": row} for place in range(count)],
    }
    spec["layer"] = [*_frames(causal), _cells(m, limits, scale, value_title, causal), *_captions(), *_chosen(m)]
    return SmallMaps(
        spec, flat(array), wide * (_WIDEST if count <= _MANY else _WIDEST // 2),
        _describe(array, captions), partial(_table, array, cells, captions, causal), count,
    )  # fmt: skip


def _layout(captions: Sequence[tuple[str, str]], wide: int) -> list[dict[str, Any]]:
    """Parameters: the captions, how many maps stand in a row, how large they are, how high that makes all of them."""
    count = len(captions)
    return [
        {"name": "first_lines", "value": [visible(name) for name, _ in captions]},
        {"name": "second_lines", "value": [visible(text, None) for _, text in captions]},
        {"name": "per_row", "expr": f"width < {_NARROW} ? {min(wide, 2 if count <= _MANY else 4)} : {wide}"},
        {"name": "side", "expr": f"(width - (per_row - 1) * {_GAP}) / per_row"},
        {"name": "height", "expr": f"ceil({count} / per_row) * (side + {_CAPTION + _GAP}) - {_GAP}"},
    ]


def _pixels(field: str) -> dict[str, Any]:
    """A field that already holds pixels."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def _box(
    width: str, height: str, down: Sequence[dict[str, str]] = ()
) -> tuple[list[dict[str, str]], dict[str, Any]]:  # fmt: skip
    """Transforms and encoding of a box at a map's corner, moved by the transforms ``down``; sizes are expressions."""
    ends = [
        {"calculate": f"datum.left + {width}", "as": "right"},
        {"calculate": f"datum.top + {height}", "as": "bottom"},
    ]
    encoding = {"x": _pixels("left"), "x2": {"field": "right"}, "y": _pixels("top"), "y2": {"field": "bottom"}}
    return [*_CORNER, *down, *ends], encoding


def _frames(causal: bool) -> list[dict[str, Any]]:
    """The ground of each map: what is not drawn on it does not exist."""
    transform, encoding = _box("side", "side")
    mark: dict[str, Any] = {"type": "rect", "fill": colour.masked(0) if causal else None, "stroke": colour.SOFT_INK,
                            "strokeOpacity": 0.3, "aria": False, "tooltip": None}  # fmt: skip
    return [{"data": {"name": "maps"}, "transform": transform, "mark": mark, "encoding": encoding}]


def _cells(
    m: int, domain: tuple[float, float], scale: colour.Scale, value_title: str, causal: bool
) -> dict[str, Any]:  # fmt: skip
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
        f"{quoted(value_title)}: format(datum.value, '.6~g')}}"
    )
    colours = {"domain": list(domain), "range": colour.ramp(scale), "interpolate": "rgb", "clamp": True}
    legend = {
        "title": value_title, "orient": "bottom", "direction": "horizontal", "gradientLength": 150,
        "gradientThickness": 10, "values": [domain[0], sum(domain) / 2, domain[1]], "format": ".3~g",
        "titleColor": colour.SOFT_INK, "labelColor": colour.SOFT_INK, "offset": 10, "padding": 0,
    }  # fmt: skip
    return {
        "transform": transform,
        "mark": {"type": "rect", "cursor": "pointer", "aria": False, "tooltip": {"expr": shown}},
        "params": [{"name": "map", "select": {"type": "point", "fields": ["map"], "toggle": False, "clear": False}}],
        "encoding": {
            "x": _pixels("x"), "x2": {"field": "x2"}, "y": _pixels("y"), "y2": {"field": "y2"},
            "color": {"field": "value", "type": "quantitative", "scale": colours, "legend": legend},
        },
    }  # fmt: skip


def _captions() -> list[dict[str, Any]]:
    """Two lines above each map, cut where the next map begins."""
    layers = []
    for lines, above, ink, weight in (
        ("first_lines", 26, colour.INK, "bold"),
        ("second_lines", 10, colour.SOFT_INK, "normal"),
    ):
        mark = {"type": "text", "align": "left", "baseline": "middle", "dy": -above, "fontSize": 12, "aria": False,
                "fontWeight": weight, "color": ink, "limit": {"expr": "side"}, "tooltip": None}  # fmt: skip
        encoding = {"x": _pixels("left"), "y": _pixels("top"), "text": {"field": "line", "type": "nominal"}}
        transform = [*_CORNER, {"calculate": f"{lines}[datum.map]", "as": "line"}]
        layers.append({"data": {"name": "maps"}, "transform": transform, "mark": mark, "encoding": encoding})
    return layers


def _chosen(m: int) -> list[dict[str, Any]]:
    """The frames of the chosen row and of the chosen map: a stroke on a wider one in the page's colour."""
    layers = []
    row = {"calculate": f"datum.top + datum.q * side / {m}", "as": "top"}
    for dataset, height, strokes in (
        ("chosen_row", f"side / {m}", ((colour.PAPER, 2.5), (colour.INK, 1.0))),
        ("chosen_map", "side", ((colour.PAPER, 5.0), (colour.INK, 2.5))),
    ):
        transform, encoding = _box("side", height, [row] if dataset == "chosen_row" else [])
        for stroke, wide in strokes:
            mark = {"type": "rect", "filled": False, "stroke": stroke, "strokeWidth": wide, "aria": False,
                    "tooltip": None}  # fmt: skip
            layers.append({"data": {"name": dataset}, "transform": transform, "mark": mark, "encoding": encoding})
    return layers


def _describe(array: NDArray[np.float32], captions: Sequence[tuple[str, str]]) -> str:
    told = "; ".join(f"{visible(name)}: {visible(text, None)}" if text else visible(name) for name, text in captions)
    return f"{len(array)} maps, each {array.shape[1]} by {array.shape[1]}, on one colour scale. {told}."


def _table(
    array: NDArray[np.float32], cells: Sequence[str], captions: Sequence[tuple[str, str]], causal: bool
) -> pd.DataFrame:
    """One row a cell that exists."""
    exists = np.tri(array.shape[1]) > 0 if causal else np.ones(array.shape[1:], dtype=bool)
    place, q, k = np.nonzero(np.broadcast_to(exists, array.shape))
    labels, maps = np.asarray(unique_names(cells)), np.asarray([name for name, _ in captions])
    return pd.DataFrame({"map": maps[place], "query": labels[q], "key": labels[k], "value": array[place, q, k]})


def block_names(n: int, block: int) -> list[str]:
    """Names of the cells of a map whose cells stand for ``block`` tokens of ``n`` each: "1–11", "12–22" …"""
    return [f"{start + 1}–{min(n, start + block)}" for start in range(0, math.ceil(n / block) * block, block)]
