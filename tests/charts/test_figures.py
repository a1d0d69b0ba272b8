"""What holds for every chart: a valid specification, data that Arrow takes, hostile labels as data."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from altair.utils.schemapi import SchemaValidationError

from lab.charts.base import alt, plain
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.chart_table import to_csv
from lab.charts.base.figure import Figure
from lab.charts.cells.slices import strips
from lab.charts.marks.bars import bars, columns
from lab.charts.marks.lines import lines
from tests.charts.samples import HOSTILE, a_heatmap, every_figure, expressions, vega_lite, words

KINDS = sorted(every_figure(words(4)))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_specification_is_valid_vega_lite(kind: str) -> None:
    for labels in (words(4), words(60), HOSTILE):
        spec = {"data": {"values": []}, **every_figure(labels)[kind].spec}
        errors = sorted(vega_lite().iter_errors(spec), key=lambda error: error.json_path)
        assert not errors, errors[0].message[:400]


def test_what_is_no_vega_lite_is_found_where_charts_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: dict[str, Any] = {"opacity": "much"}

    def draw() -> alt.LayerChart:
        return alt.LayerChart(layer=[alt.Chart().mark_bar(**wrong)])

    with pytest.raises(SchemaValidationError, match="much"):
        plain.specification({}, draw)
    monkeypatch.setattr(plain, "CHECKED", False)
    assert plain.specification({"height": 1}, draw) == {"height": 1, "layer": [{"mark": {"type": "bar"} | wrong}]}


def test_labels_reach_no_expression(kind: str) -> None:
    harmless = every_figure(["plain"] * len(HOSTILE))[kind]
    hostile = every_figure(HOSTILE)[kind]
    widths = r"\d+"
    assert [_without_numbers(e) for e in expressions(hostile.spec)] == [
        _without_numbers(e) for e in expressions(harmless.spec)
    ], f"the expressions must not depend on the labels, but for measures ({widths})"


def _without_numbers(expression: str) -> str:
    return re.sub(r"\d+", "#", expression)


def test_everything_can_be_sent(kind: str) -> None:
    figure = every_figure(HOSTILE)[kind]
    json.dumps(figure.spec, allow_nan=False).encode("utf-8")
    json.dumps(figure.spec, ensure_ascii=False).encode("utf-8")
    figure.alt.encode("utf-8")
    assert figure.data["value"].dtype == np.float32
    assert to_csv(figure.table())


def test_texts_hold_no_invisible_characters(kind: str) -> None:
    figure = every_figure(HOSTILE)[kind]
    shown = json.dumps(figure.spec, ensure_ascii=False) + figure.alt + to_csv(figure.table()).decode("utf-8-sig")
    assert not {"\u202e", "\x00", "\t", "\ud83d"} & set(shown)


def test_every_chart_has_title_and_alternative(kind: str) -> None:
    figure = every_figure(words(4))[kind]
    (lines_of_title,) = [each["value"] for each in figure.spec["params"] if each["name"] == "title_lines"]
    assert " ".join(lines_of_title)
    assert figure.alt.endswith(".")


def test_long_title_is_broken_into_lines_that_fit_a_phone() -> None:
    figure = columns([1, 2], Scale("Value"), title="word " * 30)
    (broken,) = [each["value"] for each in figure.spec["params"] if each["name"] == "title_lines"]
    assert len(broken) > 1
    assert max(map(len, broken)) <= 36
    (short,) = [each["value"] for each in figure.spec["params"] if each["name"] == "short_title_lines"]
    assert max(map(len, short)) <= 18 and " ".join(short) == " ".join(broken)  # for a figure in a narrow column


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused_with_their_place(wrong: float) -> None:
    values = np.ones((2, 3))
    values[1, 2] = wrong
    with pytest.raises(ValueError, match=r"heatmap: 1 of 6 values are NaN or infinite, the first at \(1, 2\)"):
        a_heatmap(values=values, labels=["a", "b"])
    for draw in (
        lambda: bars(["a", "b", "c"], values[1], Scale(""), title=""),
        lambda: columns(values[1], Scale(""), title=""),
        lambda: strips(values, ["a", "b"], title=""),
        lambda: lines({"a": values[1]}, AxisPlaces(""), Scale(""), title=""),
    ):
        with pytest.raises(ValueError, match=r"NaN or infinite, the first at \(2,\)"):
            draw()


def test_a_wide_page_does_not_make_three_cells_a_table() -> None:
    assert isinstance(every_figure(words(3))["bars"].width, int)
    assert a_heatmap(3).width == 3 * 96 + 110


def test_figures_are_frozen() -> None:
    figure: Figure = a_heatmap(2)
    with pytest.raises(AttributeError):
        figure.alt = "other"  # type: ignore[misc]


def test_a_title_is_read_as_it_was_written_on_a_wide_page() -> None:
    """Its lines are joined by spaces there, so that none may end within a word."""
    title = "How well any two methods agree in lab-bert, beside leave-one-out"
    spec = bars(["a"], [1.0], Scale("Value"), title=title).spec
    lines = {each["name"]: each["value"] for each in spec["params"] if each["name"].endswith("title_lines")}
    assert [" ".join(each) for each in lines.values()] == [title, title]
