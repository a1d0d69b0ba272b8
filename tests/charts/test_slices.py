"""A part of a tensor as a figure: what is masked, signs and sides, and numbers that fit into their cells."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.slices import HiddenCells, matrix_slice

VALUE = Scale("v")


def test_a_slice_of_a_causal_matrix_knows_where_it_is_masked() -> None:
    scores = np.where(np.tri(8) > 0, np.arange(64.0).reshape(8, 8) - 20, -np.inf)
    rows, columns = range(2, 6), range(1, 7)
    down, across = (Axis("Query", [str(i) for i in places]) for places in (rows, columns))
    figure = matrix_slice(scores[2:6, 1:7], (down, across), VALUE, title="t", hidden=HiddenCells(1))
    table = figure.table().to_numpy()
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            assert np.isnan(table[i, j]) if column > row else table[i, j] == scores[row, column]
    assert np.isfinite(figure.data["value"]).all()
    assert "datum.k <= datum.q + 1" in str(figure.spec) and "all is masked" in figure.alt
    with pytest.raises(ValueError, match="NaN or infinite"):
        matrix_slice(scores[2:6, 1:7], (down, across), VALUE, title="t")


def test_a_slice_that_is_all_masked_is_said_to_be() -> None:
    side = Axis("Query", ["a", "b"])
    figure = matrix_slice(np.full((2, 2), -np.inf), (side, side), VALUE, title="t", hidden=HiddenCells(-3))
    assert "All of it is masked" in figure.alt and figure.table().isna().all(axis=None)


def test_numbered_sides_take_the_whole_width_and_signs_diverge() -> None:
    sizes = (("Dimension", 3), ("Neuron", 40))
    rows, columns = (Axis(title, [str(i) for i in range(count)], counts=True) for title, count in sizes)
    figure = matrix_slice(np.linspace(-1, 3, 120).reshape(3, 40), (rows, columns), VALUE, title="t")
    assert figure.width == "stretch" and "[-3.0, 3.0]" in str(figure.spec)
    plain = matrix_slice(np.ones((3, 40)), (rows, columns), VALUE, title="t")
    assert "[0.0, 1.0]" in str(plain.spec)


@pytest.mark.parametrize("largest", [0.0123, 0.5, 1.0, 3.26, 48.2, 701.5, 9999.0, 3.4e-5, 2.2e6])
def test_a_number_in_a_cell_has_six_characters_at_most(largest: float) -> None:
    """Beside a weight of 1.00 one of 0.0000620 would run into its neighbours."""
    axis = Axis("Token", list("abcd"))
    values = np.array([largest, -largest, largest * 6.2e-5, largest / 3] * 4).reshape(4, 4)
    spec = json.dumps(matrix_slice(values, (axis, axis), VALUE, title="t").spec)
    (format_,) = set(re.findall(r"format\(datum.value, .{1,2}(\.\df|\.\de).{1,2}\)", spec))
    assert all(len(format(value, format_)) <= 6 for value in values.ravel())
