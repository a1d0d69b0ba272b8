"""A part of any matrix as coloured cells: weights, scores, hidden states, with the names that its places have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.colour import Scale
from lab.charts.base.describe import describe_heatmap
from lab.charts.base.figure import Figure, check_labels, checked_domain, numbers, ticks
from lab.charts.base.tables import table
from lab.charts.cells.grid import Grid, flat, grid_spec, span

_BESIDE = 110  # pixels for row labels, their title and the margin


@dataclass(frozen=True)
class Axis:
    """One side of a matrix: its title and a name for each place. ``numbers``: the names only count."""

    title: str
    names: Sequence[str]
    numbers: bool


def matrix_slice(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    values: ArrayLike,
    rows: Axis,
    columns: Axis,
    *,
    title: str,
    value_title: str,
    domain: tuple[float, float] | None = None,
    mask_from: int | None = None,
    local: tuple[int, int] | None = None,
) -> Figure:
    """Draw `values` (rows, columns): cells are squares where both sides are named, else as wide as the page allows.

    Parameters
    ----------
    domain : values at the ends of the colours; without it, those of the numbers. Colours diverge around 0
        where there are numbers below it.
    mask_from : of a causal matrix: the first row lies so many places below the first column (negative: above).
        Cells above the diagonal do not exist.
    local : of a local layer: the same number, and how many places to either side a query sees.
        Cells further from the diagonal do not exist.

    Raises
    ------
    ValueError : NaN, infinity where cells exist, or a wrong number of names.
    """
    raw = np.asarray(values, dtype=np.float32)
    exists = _exists(raw.shape, mask_from, local)
    matrix = numbers(np.where(exists, raw, np.float32(0)), ("rows", "columns"), of="slice")
    for count, axis, what in zip(matrix.shape, (rows, columns), ("rows", "columns"), strict=True):
        check_labels(count, axis.names, of="slice", what=what)
    square = not (rows.numbers or columns.numbers)
    scale: Scale = "diverging" if matrix.min() < 0 else "sequential"
    side = min(max(460 / max(matrix.shape), 5), 56)
    limits = checked_domain(domain or span(matrix, scale), of="slice")
    grid = Grid(
        title, rows.names, columns.names, rows.title, columns.title, value_title, scale,
        limits, _format(max(map(abs, limits))),
        cell_height=side if square else float(np.clip(460 / len(rows.names), 5, 26)), square=square,
        causal=mask_from is not None, shift=local[0] if local else mask_from or 0, window=local[1] if local else None,
        column_ticks=ticks(len(columns.names)) if columns.numbers else None,
    )  # fmt: skip
    width = round(max(side * len(columns.names), 200)) + _BESIDE
    return Figure(
        grid_spec(grid, (None, None)), flat(matrix), width if square else "stretch",
        _describe(matrix, exists, grid), partial(_table, raw, exists, rows, columns),
    )  # fmt: skip


def _exists(shape: tuple[int, ...], mask_from: int | None, local: tuple[int, int] | None) -> NDArray[np.bool_]:
    whole = np.ones(shape, dtype=bool)
    if local is not None:
        return np.triu(np.tril(whole, local[0] + local[1]), local[0] - local[1])
    return whole if mask_from is None else np.tril(whole, mask_from)


def _format(largest: float) -> str:
    """Two or three digits of the largest number, and as many decimals for all: a cell holds six characters."""
    if not 1e-2 <= largest < 1e4:
        return ".0e"
    return f".{min(max(2 - math.floor(math.log10(largest)), 0), 2 if largest >= 0.1 else 3)}f"


def _describe(matrix: NDArray[np.float32], exists: NDArray[np.bool_], grid: Grid) -> str:
    if not exists.any():
        return f"Heatmap, {matrix.shape[0]} by {matrix.shape[1]}. All of it is masked."
    # A cell that does not exist must not be named: it takes the place of one that does, and is no extreme.
    shown = np.where(exists, matrix, matrix[exists].min() if matrix[exists].min() >= 0 else 0)
    words = describe_heatmap(
        shown.astype(np.float32), grid.rows, grid.columns, row_title=grid.row_title, column_title=grid.column_title,
        value_format=grid.value_format,
    )  # fmt: skip
    where = "Above" if grid.window is None else "Far from"
    return words + ("" if exists.all() else f" {where} the diagonal all is masked.")


def _table(raw: NDArray[np.float32], exists: NDArray[np.bool_], rows: Axis, columns: Axis) -> pd.DataFrame:
    return table(np.where(exists, raw, np.nan), rows.names, columns.names)
