"""Marked lines, and the line that bars are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import marked_lines
from tests.charts.samples import HOSTILE, expressions, vega_lite

SHARE = Scale("Share")


def over(*places: float) -> AxisPlaces:
    return AxisPlaces("Threshold", places)


def test_marks_are_named_told_and_in_the_table() -> None:
    figure = marked_lines({"uniform": [0.0, 1.0]}, {"this head": (3, 0.25)}, over(2, 8), SHARE, title="")
    assert "Marked: this head at threshold 3: 0.250." in figure.alt
    table = figure.table()
    assert table["Threshold"].tolist() == [2, 8, 3]
    assert table["this head"].dropna().tolist() == [0.25]
    assert figure.spec["encoding"]["x"]["scale"] == {"type": "log", "domain": [2.0, 8.0], "nice": False}


def test_a_mark_on_a_line_has_no_name_beside_it() -> None:
    figure = marked_lines({"a": [0.1, 0.2]}, {"a": (1, 0.1), "this head": (2, 0.9)}, over(1, 2), SHARE, title="")
    points, names = figure.spec["layer"][-2:]
    assert [row["owner"] for row in points["data"]["values"]] == [0, -1]
    assert names["transform"] == [{"filter": "datum.owner < 0"}]


def test_names_are_data() -> None:
    marks = dict.fromkeys(HOSTILE[:4], (1.0, 2.0))
    figure = marked_lines({"a": [1.0]}, marks, over(1), SHARE, title="")
    assert not [text for text in expressions(figure.spec) for name in marks if name in text]
    assert len(next(each for each in figure.spec["params"] if each["name"] == "mark_labels")["value"]) == 4


def test_the_specification_is_vega_lite() -> None:
    figure = marked_lines({"a": [0.1, 0.2], "b": [0.3, 0.4]}, {"c": (1, 0.2)}, over(1, 2), SHARE, title="")
    reference = bars(["a", "b"], [0.1, 0.4], Scale(""), title="", reference=0.25)
    for each in (figure, reference):
        errors = [error.message for error in vega_lite().iter_errors({**each.spec, "data": {"name": "numbers"}})]
        assert not errors, errors[:2]


@pytest.mark.parametrize("broken", [{"x": over(0, 1)}, {"marks": {"c": (-1, 1)}}, {"marks": {"c": (1, np.nan)}}])
def test_what_has_no_logarithm_is_refused(broken: dict[str, Any]) -> None:
    given: dict[str, Any] = {"marks": {"c": (1, 1)}, "x": over(1, 2), **broken}
    with pytest.raises(ValueError, match="marked lines"):
        marked_lines({"a": [0.1, 0.2]}, y=SHARE, title="", **given)


def test_bars_reach_as_far_as_their_reference() -> None:
    figure = bars(["a", "b"], [0.1, 0.2], Scale(""), title="", reference=0.9)
    assert figure.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == pytest.approx([0, 0.9])
    assert "Dashed line at 0.900." in figure.alt
