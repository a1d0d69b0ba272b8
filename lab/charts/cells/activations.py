"""Draw the hidden layer of a feed-forward network, or a part of it: a column for each neuron, a row for each token."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import numbers
from lab.charts.cells.grid import Chosen, Grid
from lab.charts.cells.heatmap import Heatmap, drawn

ACTIVATION = Scale("Activation", signed=True)


def activations(
    values: ArrayLike,
    tokens: Sequence[str],
    scale: Scale = ACTIVATION,
    *,
    title: str,
    columns: tuple[str, int] = ("Neuron", 1),
    highlight: Chosen = (None, None),
) -> Heatmap:
    """Draw `values` (tokens, neurons) over the whole width.

    `columns` is the noun for a column (a neuron, a dimension of a vector), and the number of the first column, from 1.

    `highlight` and `clicked(event)` are (token, column), both from 0. Values beyond the scale's domain have full
    strength.

    Raises
    ------
    ValueError
        NaN, infinity, a wrong number of labels, or a highlight that cannot be.
    """
    matrix = numbers(values, ("tokens", "neurons"), of="activations")
    names = [str(neuron) for neuron in range(columns[1], columns[1] + matrix.shape[1])]
    axes = (Axis("Token", tokens), Axis(columns[0], names, counts=True))
    grid = Grid.of(matrix, title, axes, scale, cell_height=float(np.clip(460 / len(matrix), 6, 26)))
    return drawn(grid, matrix, highlight, of="activations", width="stretch")
