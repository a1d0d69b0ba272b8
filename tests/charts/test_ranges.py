"""Points with an interval: every number is drawn, the series can be told apart, and what cannot be drawn is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lab.charts.base.axes import Scale
from lab.charts.base.figure import drawable, svg
from lab.charts.marks.ranges import ranges

LABELS = ("obj", "det <b>", "case")
POINTS = {"ours": [0.5, 0.75, 0.25], "offset": [0.4, 0.8, 0.2]}
ENDS = ([0.4, 0.7, 0.2], [0.6, 0.8, 0.3])
SHARE = Scale("Share", (0.0, 1.0), ".2f")


def test_every_number_is_in_the_data_and_the_table() -> None:
    figure = ranges(LABELS, POINTS, ENDS, SHARE, title="Heads")
    for line, values in enumerate(POINTS.values()):
        drawn = figure.data[figure.data["line"] == line].sort_values("i")
        assert np.allclose(drawn["value"], values)
        assert np.allclose(drawn["low"], ENDS[0]) and np.allclose(drawn["high"], ENDS[1])
    assert list(figure.table().columns) == ["ours", "offset", "ours, low", "ours, high"]
    assert figure.alt == "3 lines of 2 points. “ours” is largest for det <b>: ours 0.75, offset 0.80."


def test_series_differ_in_shape_and_in_colour() -> None:
    (_, points) = ranges(LABELS, POINTS, ENDS, SHARE, title="Heads").spec["layer"]
    for channel in ("color", "shape"):
        scale = points["encoding"][channel]["scale"]
        assert len({str(each) for each in scale["range"]}) == len(scale["domain"]) == 2


def test_it_draws() -> None:
    figure = ranges(LABELS, POINTS, ENDS, SHARE, title="Heads")
    assert drawable(figure) and "det" in svg(figure)


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="ranges, “ours”: 1 of 3 values are NaN"):
        ranges(LABELS, {"ours": [0.5, np.nan, 0.2]}, ENDS, SHARE, title="Heads")
