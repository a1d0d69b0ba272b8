"""Positions as vectors: the learned table beside sinusoids, how alike positions are, wavelengths and shifts.

Positions count from 0, as in Vaswani et al. 2017, §3.5. ``length`` is how many are looked at, ``width`` and
``base`` are those of the sinusoids; of more than a drawing holds, every k-th is drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.analysis.layers import positions as analysis
from lab.analysis.layers.embeddings import Array, position_rows
from lab.analysis.layers.positions import BASE, Measure, Values, sinusoids, spaced, wavelengths
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.strips import VALUE, strips
from lab.charts.marks.lines import lines, settled
from lab.figures.axes import counted
from lab.figures.embeddings import DIMENSIONS, dimension_names, stretch
from lab.models.trace import Trace

ROWS = 64
MAP = 96
_WAVES = 4  # pairs of dimensions drawn as curves, at even steps
_MATRIX = 8  # a side of the shift's matrix


def learned_table(traced: Trace, length: int, first: int = 0) -> Heatmap:
    """The learned vectors of the first positions, the dimensions from ``first`` on."""
    rows = position_rows(traced, length)
    shown = stretch(first, rows.shape[1])
    title = f"Learned positions, dimensions {shown.start + 1} to {shown.stop} of {rows.shape[1]}"
    return _table(rows[:, shown], dimension_names(traced, shown), title)


def sinusoid_table(length: int, width: int, base: float = BASE) -> Heatmap:
    """The sinusoids of the first positions; of a wide table pairs of dimensions at even steps."""
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


def row_lengths(traced: Trace, length: int, width: int, base: float = BASE) -> Figure:
    """The Euclidean length of each position's vector, learned (if there are any) and computed."""
    sizes = {"sinusoids": np.linalg.norm(sinusoids(np.arange(length), width, base), axis=1)}
    if traced.model.weights.embeddings.position is not None:
        sizes = {"learned": np.linalg.norm(position_rows(traced, length), axis=1), **sizes}
    scale = Scale("Length of the row", (0.0, 1.05 * float(max(each.max() for each in sizes.values()))))
    return settled(lines(sizes, AxisPlaces("Position", range(length)), scale, title="Length of each row"))


def learned_similarity(traced: Trace, length: int, measure: Measure = "cosine") -> Heatmap:
    """How alike the learned vectors of two positions are, each with each."""
    return _map(analysis.learned_similarity(traced, length, measure)[0], measure, "learned positions")


def sinusoid_similarity(length: int, width: int, base: float = BASE, measure: Measure = "cosine") -> Heatmap:
    """How alike the sinusoids of two positions are, each with each."""
    return _map(analysis.sinusoid_similarity(length, width, base, measure)[0], measure, f"sinusoids, d = {width}")


def _map(values: Values, measure: Measure, of: str) -> Heatmap:
    places = spaced(len(values), MAP)
    axes = Axis("Position", _numbered(places)), Axis("Other position", _numbered(places))
    name, domain = measure.capitalize(), (-1.0, 1.0) if measure == "cosine" else None
    drawn, scale = values[np.ix_(places, places)], Scale(name, domain, signed=True)
    return heatmap(drawn, axes, scale, title=f"{name} of {of}")


def similarity_by_distance(
    traced: Trace, length: int, width: int, base: float = BASE, measure: Measure = "cosine"
) -> Figure:
    """Least, mean and largest similarity of learned vectors, if there are any, at each distance; that of sinusoids."""
    drawn = {}
    if traced.model.weights.embeddings.position is not None:
        _, (least, mean, most) = analysis.learned_similarity(traced, length, measure)
        drawn = {"learned: mean": mean, "learned: least": least, "learned: largest": most}
    _, (_, computed, _) = analysis.sinusoid_similarity(length, width, base, measure)
    places, name = AxisPlaces("Distance |p − q|", range(len(computed))), measure.capitalize()
    series = {**drawn, "sinusoids": computed}
    return settled(lines(series, places, Scale(name), title=f"{name} by distance"))


def waves(length: int, width: int, base: float = BASE) -> Figure:
    """The sines of a few dimensions over the positions."""
    pairs = np.unique(np.linspace(0, width // 2 - 1, _WAVES).round().astype(int))
    table = sinusoids(np.arange(length), width, base)
    sines, places = {f"dimension {2 * i + 1}": table[:, 2 * i] for i in pairs}, AxisPlaces("Position", range(length))
    return settled(lines(sines, places, Scale("Value", (-1.0, 1.0)), title="Sines of some dimensions"))


def wavelength_by_dimension(width: int, base: float = BASE) -> Figure:
    """The logarithm of each pair's wavelength: a straight line."""
    found, places = np.log10(wavelengths(width, base)), AxisPlaces("Dimension", range(1, width, 2))
    scale = Scale("log₁₀ of the wavelength")
    return settled(lines({"wavelength": found}, places, scale, title="Wavelength of each pair"))


def shift_matrix(shift: int, width: int, base: float = BASE) -> Heatmap:
    """The first rows and columns of the matrix that moves any position's sinusoids ``shift`` positions on."""
    size = min(width, _MATRIX)
    part = analysis.shift_matrix(shift, width, base)[:size, :size]
    axes = counted("Into dimension", size), counted("From dimension", size)
    scale = Scale("Factor", (-1.0, 1.0), ".2f", signed=True)
    return heatmap(part, axes, scale, title=f"The matrix for k = {shift}, its first {size} dimensions")


def shifted(place: int, shift: int, width: int, base: float = BASE) -> Heatmap:
    """The sinusoids of ``place``, the matrix times them, and those of the position ``shift`` further on."""
    before, after = sinusoids([place, place + shift], width, base)
    shown = stretch(0, width)
    vectors = [before[shown], (analysis.shift_matrix(shift, width, base) @ before)[shown], after[shown]]
    names, scale = [f"PE({place})", f"M · PE({place})", f"PE({place + shift})"], replace(VALUE, domain=(-1.0, 1.0))
    return strips(vectors, names, scale, title=f"Position {place}, multiplied, and position {place + shift}")
