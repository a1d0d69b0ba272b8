"""Draw vectors of one width as aligned coloured strips, one below the other, on one scale."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import numbers
from lab.charts.cells.grid import Chosen, Grid
from lab.charts.cells.heatmap import Heatmap, drawn


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
