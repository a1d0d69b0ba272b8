"""Neurons across, tokens down: the hidden layer of a feed-forward network, or a part of it."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lab.charts.base.figure import check_format, check_index, check_labels, checked_domain, numbers, ticks
from lab.charts.cells.grid import Chosen, Grid, span
from lab.charts.cells.heatmap import Heatmap, drawn


def activations(  # noqa: PLR0913 - a chart's options have names, and most stay as they are
    values: ArrayLike,
    tokens: Sequence[str],
    *,
    title: str,
    value_title: str,
    first: int = 1,
    domain: tuple[float, float] | None = None,
    highlight: Chosen | None = None,
    select: Literal["cell"] | None = None,
    value_format: str = ".3f",
) -> Heatmap:
    """Draw `values` (tokens, neurons) over the whole width; the first column is neuron `first`, counted from 1.

    `highlight` and `clicked(event)` are (token, column), both from 0. Colours diverge around 0; beyond
    `domain` they stay at full strength.

    Raises
    ------
    ValueError : NaN, infinity, a wrong number of labels, or a highlight, domain or format that cannot be.
    """
    matrix = numbers(values, ("tokens", "neurons"), of="activations")
    check_labels(matrix.shape[0], tokens, of="activations", what="rows of values")
    row, column = highlight or (None, None)
    check_index(row, matrix.shape[0], of="activations", what="row")
    check_index(column, matrix.shape[1], of="activations", what="column")
    check_format(value_format, of="activations")
    limits = checked_domain(domain or span(matrix, "diverging"), of="activations")
    names = [str(neuron) for neuron in range(first, first + matrix.shape[1])]
    grid = Grid(
        title, tokens, names, "Token", "Neuron", value_title, "diverging", limits, value_format,
        cell_height=float(np.clip(460 / len(tokens), 6, 26)), square=False, clickable=select is not None,
        column_ticks=ticks(matrix.shape[1]),
    )  # fmt: skip
    return drawn(grid, matrix, (row, column), width="stretch")
