"""The URL is typed by anybody: what cannot be meant is clamped and said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.course.sentences.looks import STORY_TEXT
from lab.ui.parameter_kinds import whole_number
from lab.ui.parameters import MAX_CHARACTERS
from tests.pages.apptest import sentence_of, visit, words
from tests.sentences import FOLLOWS


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("3", 3),
        (" 3 ", 3),
        ("0", None),
        ("13", None),
        ("-1", None),
        ("3.0", None),
        ("", None),
        ("٣", None),
        ("1e1", None),
        ("--5", None),
        ("-", None),
        ("0007", 7),
    ],
)
def test_whole_number(raw: str, expected: int | None) -> None:
    assert whole_number(raw, 1, 12) == expected


@given(st.text())
def test_whole_number_takes_anything(raw: str) -> None:
    value = whole_number(raw, 1, 12)
    assert value is None or 1 <= value <= 12


def test_toy_numbers_out_of_bounds_are_said() -> None:
    at = visit("3_Self-attention.py", mode="Toy", toy_vocabulary="99999", toy_length="-4", toy_seed="x")
    said = words(at)
    for name in ("toy_vocabulary", "toy_length", "toy_seed"):
        assert name in said.replace("\\", "")
    assert at.number_input(key="toy_vocabulary").value == 8


def test_what_the_url_says_is_shown_as_text() -> None:
    said = words(visit("3_Self-attention.py", model="![x](http://example.org/a.png)", layer="[a](b)"))
    assert "![x](" not in said
    assert "[a](b)" not in said


def test_a_text_too_long_is_cut_and_said() -> None:
    at = visit("3_Self-attention.py", step="map", text="word " * 2000)
    assert len(at.text_area(key="text").value or "") == MAX_CHARACTERS
    assert "left out" in words(at)


def test_defaults_need_no_url() -> None:
    at = visit("6_Head_specialization.py")
    assert at.text_area(key="text").value == STORY_TEXT
    assert not at.warning


def test_examples_fill_both_sentences() -> None:
    at = visit("3_Self-attention.py", step="map")
    at.selectbox(key="_example").set_value("A pair that follows").run()
    assert at.text_area(key="text").value == FOLLOWS[0]
    assert at.text_input(key="pair").value == FOLLOWS[1]
    assert sentence_of(at)[0]["labels"][8] == "[SEP]"


def test_another_lesson_begins_with_its_first_step() -> None:
    at = visit("3_Self-attention.py")
    at.segmented_control(key="step").set_value("Check").run()
    at.query_params.clear()  # as a browser does on the way to another page
    at.switch_page("pages/4_Multi-head_attention.py").run()
    assert at.segmented_control(key="step").value == "All heads"
    at.run()
    assert at.segmented_control(key="step").value == "All heads"


def test_the_first_lesson_of_a_visit_begins_where_the_link_says() -> None:
    assert visit("3_Self-attention.py", step="Check").segmented_control(key="step").value == "Check"
