"""Draw a matrix of words, such as the word that a model would say after each layer at each token."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.axes import Axis, Scale
from lab.charts.base.chart_table import table
from lab.charts.base.figure import numbers
from lab.charts.base.labels import visible
from lab.charts.cells.grid import Chosen, Grid, Texts
from lab.charts.cells.heatmap import Heatmap, drawn

_CELL = 34  # pixels: a word of 12 pixels with space above and below


def word_grid(
    values: ArrayLike,
    texts: Texts,
    axes: tuple[Axis, Axis],
    scale: Scale,
    *,
    title: str,
    highlight: Chosen = (None, None),
) -> Heatmap:
    """Draw `texts` (rows, columns) in cells coloured by `values` (rows, columns); clicks are reported as in a heatmap.

    A text that is wider than its cell is cut; the tooltip has the whole text and the exact value.

    Raises
    ------
    ValueError
        NaN, infinity, a wrong number of labels, or a highlight that cannot be.
    """
    matrix = numbers(values, ("rows", "columns"), of="word grid")
    grid = Grid.of(matrix, title, axes, scale, cell_height=_CELL, texts=texts)
    figure = drawn(grid, matrix, highlight, of="word grid", width="stretch", kind="Grid of words")
    last = ", ".join(visible(text) for text in texts.rows[-1])
    return replace(figure, alt=f"{figure.alt} Last row: {last}.", table=partial(_table, matrix, grid, texts))


def _table(values: ArrayLike, grid: Grid, texts: Texts) -> pd.DataFrame:
    """One line for each cell: row, column, text, value."""
    rows, columns = grid.axes
    flat = table(values, rows.names, columns.names, long=True)
    flat.insert(2, "text", np.asarray([visible(text) for row in texts.rows for text in row], dtype=object))
    return flat.set_axis([rows.title, columns.title, texts.title, grid.scale.title], axis=1)
