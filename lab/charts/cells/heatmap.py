"""A matrix as coloured cells: attention, scores, a metric by layer and head."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.colour import Scale
from lab.charts.base.describe import describe_heatmap
from lab.charts.base.figure import Figure, check_format, check_index, check_labels, checked_domain, numbers
from lab.charts.base.tables import table
from lab.charts.cells.grid import Chosen, Grid, flat, grid_spec, span

_BESIDE = 110  # pixels for row labels, their title and the margin


@dataclass(frozen=True)
class Heatmap(Figure):
    """A Figure of `shape` (rows, columns) whose cells answer a click. `causal`: above the diagonal is nothing."""

    shape: tuple[int, int]
    causal: bool = False

    def clicked(self, event: Mapping[str, Any]) -> tuple[int, int] | None:
        """The (q, k) of the cell clicked last, both from 0, or None.

        `event` is what `st.vega_lite_chart(..., on_select="rerun")` returns. The browser keeps a click
        while the numbers change, so after a shorter sentence it may lie outside: that is None, too.
        """
        for cell in event.get("selection", {}).get("cell") or ():
            q, k = cell.get("q"), cell.get("k")
            if not (isinstance(q, int | float) and isinstance(k, int | float)):
                continue
            if 0 <= q < self.shape[0] and 0 <= k < self.shape[1] and not (self.causal and k > q):
                return int(q), int(k)
        return None


def heatmap(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
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
    highlight: Chosen | None = None,
    value_format: str = ".3f",
    causal: bool = False,
    numbered: bool = True,
) -> Heatmap:
    """Draw `values` (rows, columns), row 0 at the top, with the exact number under the pointer.

    Parameters
    ----------
    rows, columns : one label each. They may repeat and may be any text: they are data, not markup.
    scale : "sequential" for values from 0 up, "diverging" for signed ones (the domain is then symmetric).
    domain : values at the ends of the colours; without it, those of the numbers. Give it where several
        charts are compared, or where the numbers change often: the drawing is then mended in place.
    select : "cell" makes cells clickable; `Heatmap.clicked(event)` says which.
    highlight : (q, k) outlines a cell and its row, (q, None) a row, (None, k) a column.
    value_format : of the numbers inside the cells (drawn up to 8 by 8) and in the alternative text.
    causal : cells above the diagonal do not exist; whatever `values` holds there (−∞, say) is ignored.
    numbered : names in the tooltip carry their position, from 1: "3 · cat".

    Raises
    ------
    ValueError : NaN, infinity, a wrong number of labels, or a highlight, domain or format that cannot be.
    """
    matrix = _matrix(values, rows, columns, causal=causal)
    q, k = highlight or (None, None)
    check_index(q, len(rows), of="heatmap", what="row")
    check_index(k, len(columns), of="heatmap", what="column")
    check_format(value_format, of="heatmap")
    limits = checked_domain(domain or span(matrix, scale), of="heatmap")
    width, height = _size(len(rows), len(columns))
    grid = Grid(
        title, rows, columns, row_title, column_title, value_title, scale, limits, value_format,
        cell_height=height / len(rows), square=math.isclose(height * len(columns), width * len(rows)),
        causal=causal, clickable=select is not None, numbered=numbered,
    )  # fmt: skip
    return drawn(grid, matrix, (q, k), width=round(width) + _BESIDE)


def drawn(
    grid: Grid, matrix: NDArray[np.float32], chosen: Chosen, *, width: int | Literal["stretch"], kind: str = "Heatmap"
) -> Heatmap:
    """The Heatmap of checked numbers: specification, data, words and table."""
    return Heatmap(
        spec=grid_spec(grid, chosen),
        data=flat(matrix),
        width=width,
        alt=describe_heatmap(
            matrix, grid.rows, grid.columns, row_title=grid.row_title, column_title=grid.column_title,
            value_format=grid.value_format, causal=grid.causal, kind=kind,
        ),
        table=partial(table, matrix, grid.rows, grid.columns, causal=grid.causal),
        shape=(len(grid.rows), len(grid.columns)),
        causal=grid.causal,
    )  # fmt: skip


def _size(rows: int, columns: int) -> tuple[float, float]:
    """Width and height of all cells in pixels: squares of 5 to 56, unless that made them a ribbon."""
    side = min(max(460 / max(rows, columns), 5), 56)
    width = max(side * columns, 200)
    height = width * rows / columns
    return width, min(max(height, min(20 * rows, 160)), max(side * rows, 460))


def _matrix(values: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, causal: bool) -> NDArray[np.float32]:
    array = np.asarray(values, dtype=np.float32)
    if causal and array.ndim == 2:
        if array.shape[0] != array.shape[1]:
            raise ValueError(f"heatmap: a causal matrix has as many rows as columns, this one is {array.shape}.")
        array = np.where(np.tri(len(array)) > 0, array, np.float32(0))
    array = numbers(array, ("rows", "columns"), of="heatmap")
    check_labels(array.shape[0], rows, of="heatmap", what="rows of values")
    check_labels(array.shape[1], columns, of="heatmap", what="columns of values")
    return array
