"""Positions as vectors: the learned table beside sinusoids, and how similar the vectors of two positions are.

Positions count from 0, as in Vaswani et al. 2017, §3.5. ``length`` is the number of positions, ``width`` and ``base``
belong to the sinusoids; if a drawing cannot hold all positions, every k-th is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lab.analysis.layers.embeddings import Array, position_rows
from lab.analysis.layers.positions import (
    BASE,
    Values,
    learned_by_distance,
    sinusoids,
    sinusoids_by_distance,
    spaced,
)
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines, settled
from lab.figures.embeddings import DIMENSIONS, dimension_names, stretch
from lab.models.trace import Trace

ROWS = 64


def learned_table(traced: Trace, length: int, first: int = 0) -> Heatmap:
    """The learned vectors of the first positions, the dimensions from ``first`` on."""
    rows = position_rows(traced, length)
    shown = stretch(first, rows.shape[1])
    title = f"Learned positions, dimensions {shown.start + 1} to {shown.stop} of {rows.shape[1]}"
    return _table(rows[:, shown], dimension_names(traced, shown), title)


def sinusoid_table(length: int, width: int, base: float = BASE) -> Heatmap:
    """The sinusoids of the first positions; of a wide table, only pairs of dimensions at equal distances."""
    pairs = spaced(width // 2, DIMENSIONS // 2)
    kept = np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()
    part = "" if len(kept) == width else f", {len(pairs)} pairs at even steps"
    table = sinusoids(np.arange(length), width, base)[:, kept]
    return _table(table, _numbered(kept + 1), f"Sinusoids, d = {width}{part}")


def _table(rows: Array | Values, dimensions: list[str], title: str) -> Heatmap:
    places = spaced(len(rows), ROWS)
    axes = Axis("Position", _numbered(places)), Axis("Dimension", dimensions)
    return heatmap(rows[places], axes, Scale("Value", signed=True), title=title)


def _numbered(places: NDArray[np.int64]) -> list[str]:
    return [str(place) for place in places.tolist()]


def similarity_by_distance(traced: Trace, length: int, width: int, base: float = BASE) -> Figure:
    """Draw the mean cosine of the vectors of two places by their distance: learned vectors, if any, and sinusoids."""
    drawn = {}
    if traced.model.weights.embeddings.position is not None:
        drawn = {"learned": learned_by_distance(traced, length)[1]}
    _, computed, _ = sinusoids_by_distance(length, width, base)
    places = AxisPlaces("How far apart two places are", range(len(computed)))
    title = "How alike the vectors of two places are"
    return settled(lines({**drawn, "computed": computed}, places, Scale("Cosine, mean"), title=title))
