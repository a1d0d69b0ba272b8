"""Many dots on a line, one of them marked: every number is drawn, and what cannot be drawn is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lab.charts.base.axes import Scale
from lab.charts.base.figure import drawable, svg
from lab.charts.marks.ranges import dots

VALUES = np.array([[0.9, 0.2, 0.8], [0.7, 0.6, 0.95]])
NAMES = (("keys", "dogs <b>"), ("without 1", "without 2", "without 3"))
SHARE = Scale("Share", (0.0, 1.0), ".2f")


def test_every_number_is_in_the_data_and_the_table() -> None:
    figure = dots(VALUES, NAMES, SHARE, title="Heads off", highlight=1, rule=0.5)
    assert np.allclose(figure.data["value"].to_numpy().reshape(VALUES.shape), VALUES)
    marked = figure.data[figure.data["kind"] == 1]
    assert np.allclose(marked["value"], VALUES[:, 1])
    assert np.allclose(figure.table().to_numpy(), VALUES)
    assert list(figure.table().columns) == list(NAMES[1])
    assert "keys: 0.20, the others 0.80 to 0.90; dogs <b>: 0.60, the others 0.70 to 0.95." in figure.alt


def test_it_draws() -> None:
    figure = dots(VALUES, NAMES, SHARE, title="Heads off", highlight=1)
    assert drawable(figure) and "keys" in svg(figure)


def test_one_of_one_has_no_others() -> None:
    assert dots(VALUES[:1, :1], (["keys"], ["one"]), SHARE, title="A", highlight=0).alt.endswith("keys: 0.90.")


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="dots: 1 of 6 values are NaN"):
        dots(np.where(VALUES == 0.2, np.nan, VALUES), NAMES, SHARE, title="A", highlight=0)
