"""Vectors of one width as aligned coloured strips, one under the other, on one scale."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from lab.charts.colour import Scale
from lab.charts.describe import describe_heatmap
from lab.charts.figure import check_index, check_labels, checked_domain, numbers, ticks
from lab.charts.grid import Grid, flat, grid_spec, span
from lab.charts.heatmap import Heatmap
from lab.charts.tables import table

_DIMENSION = "Dimension"


def strips(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    vectors: Sequence[ArrayLike],
    names: Sequence[str],
    *,
    title: str,
    value_title: str,
    scale: Scale = "diverging",
    domain: tuple[float, float] | None = None,
    highlight: int | None = None,
    select: bool = False,
    value_format: str = ".2f",
) -> Heatmap:
    """Draw `vectors`, each (d,), as rows over the dimensions 1 … d: q, k and q∘k, or what an embedding sums.

    `highlight` outlines one dimension (from 0) through all strips; with `select`, `clicked(event)` gives
    (strip, dimension), both from 0.

    Raises
    ------
    ValueError : vectors of different widths, NaN, infinity, or not one name to each.
    """
    arrays = [numbers(vector, ("d",), of=f"strips, vector {place}") for place, vector in enumerate(vectors)]
    check_labels(len(arrays), names, of="strips", what="vectors")
    if not arrays or len({array.size for array in arrays}) > 1:
        raise ValueError(f"strips: the vectors need one width, got {[array.size for array in arrays]}.")
    matrix = np.stack(arrays)
    width = matrix.shape[1]
    check_index(highlight, width, of="strips", what="dimension")
    dimensions = [str(dimension + 1) for dimension in range(width)]
    limits = checked_domain(domain or span(matrix, scale), of="strips")
    grid = Grid(
        title, names, dimensions, "", _DIMENSION, value_title, scale, limits, value_format, 30,
        square=False, clickable=select, column_ticks=ticks(width),
    )  # fmt: skip
    return Heatmap(
        spec=grid_spec(grid, (None, highlight)),
        data=flat(matrix),
        width="stretch",
        alt=describe_heatmap(
            matrix, names, dimensions, row_title="", column_title=_DIMENSION, value_format=value_format, kind="Strips"
        ),
        table=partial(table, matrix, names, dimensions),
        shape=(len(arrays), width),
    )
