"""Vectors of one width as aligned coloured strips, one under the other, on one scale."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.colour import Scale
from lab.charts.base.figure import check_index, check_labels, checked_domain, numbers, ticks
from lab.charts.cells.grid import Grid, span
from lab.charts.cells.heatmap import Heatmap, drawn


def strips(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    vectors: Sequence[ArrayLike] | NDArray[np.floating],
    names: Sequence[str],
    *,
    title: str,
    value_title: str,
    scale: Scale = "diverging",
    domain: tuple[float, float] | None = None,
    highlight: int | None = None,
    select: Literal["cell"] | None = None,
    value_format: str = ".2f",
    dimensions: Sequence[str] | None = None,
) -> Heatmap:
    """Draw `vectors`, each (d,), as rows over the dimensions 1 … d: q, k and q∘k, or what an embedding sums.

    `dimensions` names them where they are a part of a longer vector, or stand for something.
    `highlight` outlines one dimension (from 0) through all strips; with `select="cell"`, `clicked(event)`
    gives (strip, dimension), both from 0.

    Raises
    ------
    ValueError : vectors of different widths, NaN, infinity, or not one name to each vector and dimension.
    """
    arrays = [numbers(vector, ("d",), of=f"strips, vector {place}") for place, vector in enumerate(vectors)]
    check_labels(len(arrays), names, of="strips", what="vectors")
    if not arrays or len({array.size for array in arrays}) > 1:
        raise ValueError(f"strips: the vectors need one width, got {[array.size for array in arrays]}.")
    matrix = np.stack(arrays)
    width = matrix.shape[1]
    check_index(highlight, width, of="strips", what="dimension")
    columns = [str(dimension + 1) for dimension in range(width)] if dimensions is None else dimensions
    check_labels(width, columns, of="strips", what="dimensions")
    limits = checked_domain(domain or span(matrix, scale), of="strips")
    grid = Grid(
        title, names, columns, "", "Dimension", value_title, scale, limits, value_format, 30,
        square=False, clickable=select is not None, column_ticks=ticks(width),
    )  # fmt: skip
    return drawn(grid, matrix, (None, highlight), width="stretch", kind="Strips")
