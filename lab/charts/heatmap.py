"""A matrix as coloured cells: attention, scores, metrics by layer and head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.describe import describe_heatmap
from lab.charts.figure import Figure, check_format, check_labels, flat, numbers
from lab.charts.grid import NUMBERS_UP_TO, Grid, Scale, grid_spec
from lab.charts.tables import table

_MARGIN = 110  # room for row labels and titles beside the cells, in pixels


@dataclass(frozen=True)
class Heatmap(Figure):
    """A Figure of `shape` (rows, columns) whose cells can be clicked."""

    shape: tuple[int, int]

    def clicked(self, event: Mapping[str, Any]) -> tuple[int, int] | None:
        """The (q, k) that the chart's event names, or None: nothing clicked, or outside this matrix.

        A click outlives the numbers it was made on: after a shorter sentence it may point past the edge.
        """
        cells = event.get("selection", {}).get("cell") or []
        for cell in cells:
            q, k = cell.get("q"), cell.get("k")
            if isinstance(q, int | float) and isinstance(k, int | float):
                if 0 <= q < self.shape[0] and 0 <= k < self.shape[1]:
                    return int(q), int(k)
        return None


def heatmap(
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    row_title: str,
    column_title: str,
    value_title: str,
    scale: Scale = "sequential",
    domain: tuple[float, float] | None = None,
    select: Literal["cell"] | None = None,
    highlight: tuple[int, int | None] | None = None,
    value_format: str = ".3f",
    causal: bool = False,
) -> Heatmap:
    matrix = _matrix(values, rows, columns, causal=causal)
    check_format(value_format, of="heatmap")
    grid = Grid(
        title=title,
        rows=rows,
        columns=columns,
        row_title=row_title,
        column_title=column_title,
        value_title=value_title,
        scale=scale,
        domain=domain or span(matrix, scale),
        value_format=value_format,
        cell_height=_side(matrix.shape),
        square=True,
        causal=causal,
        select=select,
        written=max(matrix.shape) <= NUMBERS_UP_TO,
    )
    return Heatmap(
        spec=grid_spec(grid, highlight or (None, None)),
        data=flat(matrix),
        width=round(_side(matrix.shape) * matrix.shape[1]) + _MARGIN,
        alt=describe_heatmap(matrix, rows, columns, value_format=value_format, causal=causal),
        table=partial(table, matrix, rows, columns, causal=causal),
        shape=(matrix.shape[0], matrix.shape[1]),
    )


def span(values: NDArray[np.float32], scale: Scale) -> tuple[float, float]:
    high = float(np.abs(values).max()) or 1.0
    return (0.0, high) if scale == "sequential" else (-high, high)


def _side(shape: tuple[int, ...]) -> float:
    return float(max(np.clip(460 / shape[1], 5, 56), 200 / shape[1]))


def _matrix(values: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, causal: bool) -> NDArray[np.float32]:
    array = np.asarray(values, dtype=np.float32)
    if causal and array.ndim == 2:
        array = np.tril(np.where(np.isfinite(array) | np.tri(*array.shape, dtype=bool), array, 0))
    array = numbers(array, "(rows, columns)", of="heatmap")
    check_labels(array.shape[0], rows, of="heatmap", what="rows of values")
    check_labels(array.shape[1], columns, of="heatmap", what="columns of values")
    return array
