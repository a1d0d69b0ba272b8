"""Rotary and added positions compared: one word at many places, and two words at each pair of places."""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.layers import rotary
from lab.analysis.layers.positions import BASE, Values, spaced
from lab.analysis.layers.rotary import Way
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines, settled
from lab.figures.embeddings import DIMENSIONS
from lab.models.trace import Trace

ROWS = 64
TITLES: dict[Way, str] = {"learned": "learned positions added", "sinusoids": "sinusoids added", "rotary": "turned"}


def turned(traced: Trace, token: int, length: int, base: float = BASE) -> Heatmap:
    """Draw the vector of ``token``, turned to each of the first positions; dimensions of a pair are side by side."""
    rows = rotary.placed(traced, token, "rotary", length, base)
    half = rows.shape[1] // 2
    pairs, places = spaced(half, DIMENSIONS // 2), spaced(length, ROWS)
    columns = np.stack([pairs, pairs + half], axis=1).ravel()
    part = "" if len(pairs) == half else f", {len(pairs)} of {half} pairs"
    axes = Axis("Position", [str(place) for place in places]), Axis("Dimension", [str(each + 1) for each in columns])
    title, scale = f"The vector of {traced.labels[token]}, turned{part}", Scale("Value", signed=True)
    return heatmap(rows[np.ix_(places, columns)], axes, scale, title=title)


def cosines(traced: Trace, query: int, key: int, way: Way, length: int, base: float = BASE) -> Heatmap:
    """Draw the cosine of two words' vectors at every pair of positions.

    All ways share one scale of colours, up to the next tenth above the largest cosine in any of them.
    """
    every = (rotary.cosines(traced, (query, key), each, length, base) for each in rotary.ways(traced))
    most = min(1.0, math.ceil(10 * max(float(np.abs(each).max()) for each in every)) / 10)
    values = rotary.cosines(traced, (query, key), way, length, base)
    places = spaced(len(values), ROWS)
    names = [str(place) for place in places]
    axes = Axis(f"Position of {traced.labels[query]}", names), Axis(f"Position of {traced.labels[key]}", names)
    scale = Scale("Cosine", (-most, most), signed=True)
    return heatmap(values[np.ix_(places, places)], axes, scale, title=f"Cosine, {TITLES[way]}")


def by_offset(traced: Trace, query: int, key: int, length: int, base: float = BASE) -> Figure:
    """Draw the least and the largest cosine at each offset; for turned vectors, both are the same line."""
    drawn: dict[str, Values] = {}
    for way in rotary.ways(traced):
        least, largest = rotary.by_offset(rotary.cosines(traced, (query, key), way, length, base))
        drawn |= {"turned": least} if way == "rotary" else {f"{way}: least": least, f"{way}: largest": largest}
    places = AxisPlaces("Offset: position of the second − position of the first", range(1 - length, length))
    return settled(lines(drawn, places, Scale("Cosine"), title="Cosine by offset"))
