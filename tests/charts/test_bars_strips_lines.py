"""Bars, columns, strips and lines."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import svg, ticks
from lab.charts.cells.slices import strips
from lab.charts.marks.bars import bars, columns
from lab.charts.marks.lines import lines, settled

PLAIN = Scale("")


def test_equal_labels_stay_bars_of_their_own() -> None:
    spec = bars(["the", "the"], [0.1, 0.2], PLAIN, title="").spec
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 1]


def test_a_highlight_fades_the_other_bars() -> None:
    assert bars(["a", "b"], [1, 2], PLAIN, title="", highlight=1).data["chosen"].tolist() == [False, True]
    assert bars(["a", "b"], [1, 2], PLAIN, title="").data["chosen"].tolist() == [True, True]


def test_moving_the_highlight_leaves_the_specification_as_it_is() -> None:
    first, second = (bars(["a", "b"], [1, 2], PLAIN, title="", highlight=i).spec for i in (0, 1))
    assert first == second


def test_the_number_of_a_negative_bar_stands_left_of_it() -> None:
    drawn = svg(bars(["a", "b"], [-1, 2], PLAIN, title=""))
    sides = dict(re.findall(r'text-anchor="(\w+)"[^>]*>([−\d.]+000)<', drawn))
    assert sides == {"end": "−1.000", "start": "2.000"}


@pytest.mark.parametrize(
    ("values", "domain", "expected"),
    [([0.2, 0.6], None, [0, 0.6]), ([-1, 2], None, [-1, 2]), ([0, 0], None, [0, 1]), ([0.2], (0, 1), [0, 1])],
)
def test_bars_start_at_zero(values: list[float], domain: tuple[float, float] | None, expected: list[float]) -> None:
    labels = ["x"] * len(values)
    spec = bars(labels, values, Scale("", domain), title="").spec
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == pytest.approx(expected)


def test_a_label_for_each_bar() -> None:
    with pytest.raises(ValueError, match="bars: 2 values but 1 labels"):
        bars(["a"], [1, 2], PLAIN, title="")


@pytest.mark.parametrize("count", [1, 2, 8, 9, 12, 64, 100, 768, 3072, 10_000])
def test_ticks_are_few_and_begin_with_the_first(count: int) -> None:
    shown = ticks(count)
    assert shown[0] == 0
    assert len(shown) <= 9
    assert max(shown) < count


def test_ticks_of_64_read_1_8_16() -> None:
    assert [place + 1 for place in ticks(64)] == [1, 8, 16, 24, 32, 40, 48, 56, 64]


def test_columns_count_from_one_in_the_table() -> None:
    table = columns([3.0, 4.0], Scale("Product"), title="").table()
    assert table.index.tolist() == ["1", "2"]
    assert table["Product"].tolist() == [3.0, 4.0]


def test_strips_share_one_symmetric_scale() -> None:
    figure = strips([[1, -4], [2, 3]], ["q", "k"], title="")
    assert figure.spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == [-4.0, 4.0]
    assert figure.shape == (2, 2)


def test_strips_outline_a_dimension_through_all_vectors() -> None:
    datasets = strips([[1, 2], [3, 4]], ["q", "k"], title="", highlight=(None, 1)).spec["datasets"]
    assert datasets["chosen_column"] == [{"k": 1}]
    assert not datasets["chosen_cell"]


def test_strips_name_dimensions_of_a_longer_vector() -> None:
    figure = strips([[1, 2]], ["q"], title="", dimensions=["65", "66"])
    assert figure.table().columns.tolist() == ["65", "66"]
    with pytest.raises(ValueError, match="2 columns of values but 1 labels"):
        strips([[1, 2]], ["q"], title="", dimensions=["65"])


def test_lines_may_end_at_different_points() -> None:
    figure = lines({"train": [3, 2, 1], "held-out": [4, 3]}, AxisPlaces("Step"), Scale("Loss"), title="")
    assert figure.data["x"].tolist() == [1, 2, 3, 1, 2]
    assert figure.data["line"].tolist() == [0, 0, 0, 1, 1]
    table = figure.table()
    assert table.columns.tolist() == ["Step", "train", "held-out"]
    assert np.isnan(table["held-out"].iloc[2])


def test_new_points_leave_the_specification_of_lines_as_it_is() -> None:
    """A loss curve grows while the toy trains: the browser adds to it in place."""
    first, second = (lines({"a": [1.0] * n}, AxisPlaces("x"), Scale("y"), title="").spec for n in (3, 4))
    assert first == second


def test_lines_on_a_log_scale() -> None:
    found = lines({"a": [0.1, 10.0]}, AxisPlaces("x"), Scale("y"), title="T", log=True)
    assert found.spec["encoding"]["y"]["scale"]["type"] == "log"


def test_settled_lines_state_their_extents() -> None:
    """Else Vega looks for them in the data that it does not have yet, and warns of an infinite extent."""
    drawn = lines({"a": [3.0, 1.0], "b": [2.0, 5.0, 4.0]}, AxisPlaces("x", [10, 20, 30]), Scale("y"), title="t")
    spec = settled(drawn).spec
    assert spec["encoding"]["x"]["scale"]["domain"] == [10, 30]
    assert spec["encoding"]["y"]["scale"]["domain"] == [1, 5]
    assert "domain" not in drawn.spec["encoding"]["x"]["scale"]
    bounded = settled(lines({"a": [0.2]}, AxisPlaces("x"), Scale("y", (0.0, 1.0)), title="t")).spec
    assert bounded["encoding"]["y"]["scale"]["domain"] == [0.0, 1.0]
