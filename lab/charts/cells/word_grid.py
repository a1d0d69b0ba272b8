"""A matrix whose cells carry words: what a model would say after each layer, at each token."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.figure import check_index, check_labels, checked_domain, numbers
from lab.charts.base.labels import visible
from lab.charts.base.tables import table
from lab.charts.cells.grid import Chosen, Grid
from lab.charts.cells.heatmap import Heatmap, drawn

_CELL = 34  # pixels: a word of 12 with air above and below


def word_grid(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    values: ArrayLike,
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    row_title: str,
    column_title: str,
    value_title: str,
    text_title: str,
    domain: tuple[float, float],
    highlight: Chosen = (None, None),
    value_format: str = ".3f",
) -> Heatmap:
    """Draw `texts` (rows, columns) in cells coloured by `values` (rows, columns); a click answers as a heatmap's.

    A text that is wider than its cell is cut; the whole of it stands in the tooltip, beside the exact value.

    Raises
    ------
    ValueError : NaN, infinity, a wrong number of labels or texts, or a highlight or domain that cannot be.
    """
    matrix = numbers(values, ("rows", "columns"), of="word grid")
    check_labels(matrix.shape[0], rows, of="word grid", what="rows of values")
    check_labels(matrix.shape[1], columns, of="word grid", what="columns of values")
    if [len(row) for row in texts] != [matrix.shape[1]] * matrix.shape[0]:
        raise ValueError(f"word grid: {matrix.shape[0]} by {matrix.shape[1]} values need a text each.")
    check_index(highlight[0], len(rows), of="word grid", what="row")
    check_index(highlight[1], len(columns), of="word grid", what="column")
    grid = Grid(
        title, rows, columns, row_title, column_title, value_title, "sequential",
        checked_domain(domain, of="word grid"), value_format, cell_height=_CELL, square=False, clickable=True,
        texts=[text for row in texts for text in row], text_title=text_title,
    )  # fmt: skip
    figure = drawn(grid, matrix, highlight, width="stretch", kind="Grid of words")
    last = ", ".join(visible(text) for text in texts[-1])
    both = partial(_table, matrix, texts, rows, columns, (row_title, column_title, text_title, value_title))
    return replace(figure, alt=f"{figure.alt} Last row: {last}.", table=both)


def _table(
    values: ArrayLike,
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str, str, str],
) -> pd.DataFrame:
    """One line a cell: row, column, text, value."""
    flat = table(values, rows, columns, long=True)
    flat.insert(2, "text", np.asarray([visible(text) for row in texts for text in row], dtype=object))
    return flat.set_axis(list(titles), axis=1)
