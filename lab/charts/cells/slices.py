"""Coloured cells of any matrix or of a part of it: slices with named places, activations, vectors as aligned strips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import Axis, Scale, describe_heatmap
from lab.charts.base.chart_table import table
from lab.charts.base.figure import Figure, numbers
from lab.charts.cells.grid import Chosen, Grid, flat, grid_spec, widest
from lab.charts.cells.heatmap import Heatmap, drawn


@dataclass(frozen=True)
class HiddenCells:
    """The cells of a slice of scores that do not exist.

    shift    number of places by which the first row is below the first column (negative: above)
    window   of a local layer: number of places that a query sees to either side; None: all earlier places
    """

    shift: int
    window: int | None = None

    def exists(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return the cells that exist in a slice of this ``shape``."""
        whole = np.ones(shape, dtype=bool)
        if self.window is None:
            return np.tril(whole, self.shift)
        return np.triu(np.tril(whole, self.shift + self.window), self.shift - self.window)


def matrix_slice(
    values: ArrayLike, axes: tuple[Axis, Axis], scale: Scale, *, title: str, hidden: HiddenCells | None = None
) -> Figure:
    """Draw `values` (rows, columns): as `heatmap` if both sides are named, else as wide as the page.

    Parameters
    ----------
    axes
        The axis of the rows, then of the columns.
    scale
        The title and the domain of the scale. Colours diverge around 0 if any number is below 0, and the numbers in the
        cells have as many digits as fit.
    hidden
        The cells that do not exist; they are not drawn.

    Raises
    ------
    ValueError
        NaN or infinity in a cell that exists.
    """
    raw = np.asarray(values, dtype=np.float32)
    exists = hidden.exists(raw.shape) if hidden else np.ones(raw.shape, dtype=bool)
    matrix = numbers(np.where(exists, raw, np.float32(0)), ("rows", "columns"), of="slice")
    named, scale = not any(axis.counts for axis in axes), replace(scale, signed=bool(matrix.min() < 0))
    scale = replace(scale, format=_format(max(map(abs, scale.limits(matrix)))))
    height = None if named else float(np.clip(460 / len(matrix), 5, 26))
    shift, window = (hidden.shift, hidden.window) if hidden else (0, None)
    causal = hidden is not None and window is None
    grid = Grid.of(matrix, title, axes, scale, cell_height=height, causal=causal, shift=shift, window=window)
    width: int | Literal["stretch"] = widest(matrix.shape[1]) if named else "stretch"
    cells = partial(table, np.where(exists, raw, np.nan), *(axis.names for axis in axes))
    return Figure(grid_spec(grid, (None, None)), flat(matrix), width, _describe(matrix, exists, grid), cells)


def _format(largest: float) -> str:
    """Return a format of at most six characters, with two or three digits for the largest number."""
    if not 1e-2 <= largest < 1e4:
        return ".0e"
    return f".{min(max(2 - math.floor(math.log10(largest)), 0), 2 if largest >= 0.1 else 3)}f"


def _describe(matrix: NDArray[np.float32], exists: NDArray[np.bool_], grid: Grid) -> str:
    if not exists.any():
        return f"Heatmap, {matrix.shape[0]} by {matrix.shape[1]}. All of it is masked."
    # The description must not name a cell that does not exist, so such a cell gets a value that is never an extreme.
    shown = np.where(exists, matrix, matrix[exists].min() if matrix[exists].min() >= 0 else 0)
    words = describe_heatmap(shown.astype(np.float32), grid.axes, value_format=grid.scale.format)
    where = "Above" if grid.window is None else "Far from"
    return words + ("" if exists.all() else f" {where} the diagonal all is masked.")


ACTIVATION = Scale("Activation", signed=True)


def activations(
    values: ArrayLike,
    tokens: Sequence[str],
    scale: Scale = ACTIVATION,
    *,
    title: str,
    columns: tuple[str, int] = ("Neuron", 1),
    highlight: Chosen = (None, None),
) -> Heatmap:
    """Draw `values` (tokens, neurons) over the whole width.

    `columns` is the noun for a column (a neuron, a dimension of a vector), and the number of the first column, from 1.

    `highlight` and `clicked(event)` are (token, column), both from 0. Values beyond the scale's domain have full
    strength.

    Raises
    ------
    ValueError
        NaN, infinity, a wrong number of labels, or a highlight that cannot be.
    """
    matrix = numbers(values, ("tokens", "neurons"), of="activations")
    names = [str(neuron) for neuron in range(columns[1], columns[1] + matrix.shape[1])]
    axes = (Axis("Token", tokens), Axis(columns[0], names, counts=True))
    grid = Grid.of(matrix, title, axes, scale, cell_height=float(np.clip(460 / len(matrix), 6, 26)))
    return drawn(grid, matrix, highlight, of="activations", width="stretch")


class Strips(Heatmap):
    """Vectors, one below the other."""


VALUE = Scale("Value", format=".2f", signed=True, cut=True)


def strips(
    vectors: Sequence[ArrayLike] | NDArray[np.floating],
    names: Sequence[str],
    scale: Scale = VALUE,
    *,
    title: str,
    highlight: Chosen = (None, None),
    dimensions: Sequence[str] | None = None,
) -> Strips:
    """Draw `vectors`, each (d,), as rows over the dimensions 1 … d: q, k and q∘k, or the terms of an embedding.

    `dimensions` names the dimensions if they are part of a longer vector, or have a meaning.
    `highlight` outlines (None, dimension) through all strips, or (strip, None); `clicked(event)` gives
    (strip, dimension), all from 0.

    Raises
    ------
    ValueError
        NaN, infinity, or not one name for each vector and dimension.
    """
    arrays = [numbers(vector, ("d",), of=f"strips, vector {place}") for place, vector in enumerate(vectors)]
    matrix = np.stack(arrays)
    columns = [str(place) for place in range(1, matrix.shape[1] + 1)] if dimensions is None else dimensions
    axes = Axis("", names), Axis("Dimension", columns, counts=True)
    grid = Grid.of(matrix, title, axes, scale, cell_height=30)
    figure = drawn(grid, matrix, highlight, of="strips", width="stretch", kind="Strips")
    return Strips(**vars(figure))
