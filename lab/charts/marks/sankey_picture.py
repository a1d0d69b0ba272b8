"""A Sankey diagram as SVG, of the numbers and places that Plotly gets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

from lab.charts.kept import svg

_WIDTH, _SIDE, _BELOW = 960, 6, 34  # pixels: the picture's width, its margin, and the room for the names of the columns
_NODE = 12  # pixels across a node
_LEAST = 1.0  # pixels of the thinnest band


def sankey_picture(trace: Mapping[str, Any], scale: float, height: int, columns: Sequence[str], alt: str) -> str:
    """Draw what ``trace``, a Sankey of Plotly, holds.

    Parameters
    ----------
    scale
        The pixels of a weight of 1.
    height
        The pixels of a whole column.
    columns
        The names below the columns, at equal distances.
    alt
        The diagram in a sentence.
    """
    node, link = trace["node"], trace["link"]
    across = _WIDTH - 2 * _SIDE - _NODE
    left = [_SIDE + x * across for x in node["x"]]
    middle = [_SIDE + y * height for y in node["y"]]
    bands, sizes = _bands(link, scale, left, middle)
    parts = [*bands]
    for at, name in enumerate(node["label"]):
        size = max(sizes[at], 2.0)
        told = svg.tooltip(_plain(node["customdata"][at]))
        parts.append(
            svg.element(
                "rect", told, x=left[at], y=middle[at] - size / 2, width=_NODE, height=size, fill=node["color"][at]
            )
        )
        last = node["x"][at] > 1 - 1 / len(columns)
        x, anchor = (left[at] - 4, "end") if last else (left[at] + _NODE + 4, "start")
        parts.append(svg.text(_plain(name), x, middle[at] + 4, text_anchor=anchor, font_size=13, class_="label"))
    for at, name in enumerate(columns):
        x = _SIDE + at / (len(columns) - 1) * across + _NODE / 2
        anchor = "start" if at == 0 else "end" if at == len(columns) - 1 else "middle"
        parts.append(svg.text(name, x, _SIDE + height + 24, text_anchor=anchor, font_size=13))
    return svg.picture(_WIDTH, height + _SIDE + _BELOW, alt, *parts, least=720)


def _bands(
    link: Mapping[str, Any], scale: float, left: Sequence[float], middle: Sequence[float]
) -> tuple[list[str], Mapping[int, float]]:
    """Draw the bands; also return the height of each node. At a node, bands lie in the order of their other ends."""
    ends = list(zip(link["source"], link["target"], strict=True))
    thick = [value * scale for value in link["value"]]
    leaving, arriving = defaultdict[int, float](float), defaultdict[int, float](float)
    for (start, end), width in zip(ends, thick, strict=True):
        leaving[start] += width
        arriving[end] += width
    sizes = {node: max(leaving[node], arriving[node]) for node in {*leaving, *arriving}}
    first, second = ({node: middle[node] - sum_[node] / 2 for node in sum_} for sum_ in (leaving, arriving))
    starts, stops = {}, {}
    for band in sorted(range(len(ends)), key=lambda at: middle[ends[at][1]]):
        starts[band] = first[ends[band][0]] + thick[band] / 2
        first[ends[band][0]] += thick[band]
    for band in sorted(range(len(ends)), key=lambda at: middle[ends[at][0]]):
        stops[band] = second[ends[band][1]] + thick[band] / 2
        second[ends[band][1]] += thick[band]
    drawn = []
    for band, (start, end) in enumerate(ends):
        (a, y), (b, z) = (left[start] + _NODE, starts[band]), (left[end], stops[band])
        bend, width = (a + b) / 2, max(thick[band], _LEAST)
        path = f"M{a:.1f} {y:.1f}C{bend:.1f} {y:.1f} {bend:.1f} {z:.1f} {b:.1f} {z:.1f}"
        told = svg.tooltip(_plain(link["customdata"][band]))
        drawn.append(svg.element("path", told, d=path, fill="none", stroke=link["color"][band], stroke_width=width))
    return drawn, sizes


def _plain(told: str) -> str:
    """A text for Plotly as it was before :func:`lab.charts.base.plotted.plotly_text` escaped it."""
    return unescape(told.replace("<br>", "\n"))
