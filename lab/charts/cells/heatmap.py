"""Draw a matrix as coloured cells, such as attention, scores, or a metric by layer and head."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import Axis, Scale, describe_heatmap
from lab.charts.base.chart_table import table
from lab.charts.base.figure import CellFigure, check_index, check_labels, numbers
from lab.charts.cells.grid import Chosen, Grid, answering, flat, grid_spec, widest


@dataclass(frozen=True)
class Heatmap(CellFigure):
    """Rows and columns of cells that can answer a click."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.values.shape
        return rows, columns

    def clickable(self) -> Self:
        """Return this figure with cells that answer clicks: :meth:`clicked` returns the clicked cell."""
        return replace(self, spec=answering(self.spec))

    def clicked(self, event: Mapping[str, Any]) -> tuple[int, int] | None:
        """Return the (q, k) of the cell clicked last, both from 0, or None.

        `event` is what `st.vega_lite_chart(..., on_select="rerun")` returns. The browser keeps a click while the
        numbers change, so after a shorter sentence the clicked cell may be outside the matrix: then the result is None,
        too.
        """
        for cell in event.get("selection", {}).get("cell") or ():
            q, k = cell.get("q"), cell.get("k")
            if not (isinstance(q, int | float) and isinstance(k, int | float)):
                continue
            if 0 <= q < self.shape[0] and 0 <= k < self.shape[1] and not (self.causal and k > q):
                return int(q), int(k)
        return None


def heatmap(
    values: ArrayLike,
    axes: tuple[Axis, Axis],
    scale: Scale,
    *,
    title: str,
    highlight: Chosen = (None, None),
    causal: bool = False,
) -> Heatmap:
    """Draw `values` (rows, columns), row 0 at the top, with the exact number under the pointer.

    On a narrow page the cells are squares; on a wide page they take the whole width, and the chart stays as high as a
    screen.

    Parameters
    ----------
    axes
        The axis of the rows, then of the columns.
    highlight
        (q, k) outlines a cell and its row, (q, None) a row, (None, k) a column.
    causal
        Cells above the diagonal do not exist; whatever `values` holds there (−∞, say) is ignored.

    Raises
    ------
    ValueError
        NaN, infinity, a wrong number of labels, or a highlight that cannot be.
    """
    matrix = _matrix(values, causal=causal)
    grid = Grid.of(matrix.astype(np.float32, copy=False), title, axes, scale, causal=causal)
    return drawn(grid, matrix, highlight, of="heatmap", width=widest(matrix.shape[1]))


def large_heatmap(
    values: ArrayLike,
    axes: tuple[Axis, Axis],
    scale: Scale,
    *,
    title: str,
    highlight: Chosen = (None, None),
    causal: bool = False,
) -> Heatmap:
    """Draw a few `values` across the whole page, with larger numbers; all else is as in :func:`heatmap`."""
    matrix = _matrix(values, causal=causal)
    grid = Grid.of(matrix.astype(np.float32, copy=False), title, axes, scale, causal=causal, large=True)
    return drawn(grid, matrix, highlight, of="heatmap", width="stretch")


def drawn(
    grid: Grid,
    values: NDArray[Any],
    chosen: Chosen,
    *,
    of: str,
    width: int | Literal["stretch"],
    kind: str = "Heatmap",
) -> Heatmap:
    """Return the Heatmap of a grid: specification, data, description and table.

    Raises ValueError if the parts do not match.
    """
    (rows, columns), matrix = grid.axes, values.astype(np.float32, copy=False)
    for count, axis, place, what in zip(matrix.shape, grid.axes, chosen, ("row", "column"), strict=True):
        check_labels(count, axis.names, of=of, what=f"{what}s of values")
        check_index(place, count, of=of, what=what)
    return Heatmap(
        spec=grid_spec(grid, chosen),
        data=flat(matrix),
        width=width,
        alt=describe_heatmap(matrix, grid.axes, value_format=grid.scale.format, causal=grid.causal, kind=kind),
        table=partial(table, matrix, rows.names, columns.names, causal=grid.causal),
        title=grid.title,
        values=values,
        axes=grid.axes,
        scale=grid.scale,
        causal=grid.causal,
    )


def _matrix(values: ArrayLike, *, causal: bool) -> NDArray[Any]:
    """Return the numbers as exact as they are; Vega gets them in single precision."""
    array = np.asarray(values)
    if causal and array.ndim == 2:
        array = np.where(np.tri(len(array)) > 0, array, array.dtype.type(0))
    numbers(array, ("rows", "columns"), of="heatmap")
    return array
