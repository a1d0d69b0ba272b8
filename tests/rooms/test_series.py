"""A series survives its file and its room; whatever else somebody brings as a series is refused in a sentence."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Engine, select

from lab.course.words import plain
from lab.rooms.rooms import MOST_SERIES, NotTheTeacher, Rooms
from lab.rooms.schema import ROOMS
from lab.rooms.series import (
    LONGEST,
    MOST_QUESTIONS,
    Own,
    PreparedQuestion,
    Series,
    SeriesError,
    own_question,
    read,
    written,
)

HOSTILE = "<script>alert(1)</script> **$x$** :red[*] \u202eسلام 👩‍🚀"
SERIES = Series(
    (
        PreparedQuestion(
            "self-attention", "Where does it look?", {"text": HOSTILE, "layer": "5", "head": "11"}, "Which word?"
        ),
        Own(HOSTILE, ("a", HOSTILE), 1, "because"),
    )
)


def test_a_series_is_read_as_it_was_written() -> None:
    assert read(written(SERIES)) == SERIES and read("") == Series()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        "null",
        '{"items": [{"kind": "own", "said": "x", "options": ["a"], "right": 0}]}',
        '{"items": [{"kind": "own", "said": "x", "options": ["a", "b"], "right": 2}]}',
        '{"items": [{"kind": "own", "said": "x", "options": ["a", "a"], "right": 0}]}',
        '{"items": [{"kind": "own", "said": "", "options": ["a", "b"], "right": 0}]}',
        '{"items": [{"kind": "prepared", "lesson": "x", "step": "y", "link": {"text": 5}, "said": "z"}]}',
        '{"items": [{"kind": "run", "code": "import os"}]}',
        '{"items": [], "format": "inside-bert-series/2"}',
        json.dumps({"items": [{"kind": "own", "said": "x" * (LONGEST + 1), "options": ["a", "b"], "right": 0}]}),
    ],
)
def test_what_is_no_series_is_refused(text: str) -> None:
    with pytest.raises(SeriesError, match="not a series"):
        read(text)


def test_a_series_has_an_order_and_an_end() -> None:
    first, second = SERIES.items
    assert SERIES.moved_up(1).items == (second, first) and SERIES.without(0).items == (second,)
    full = Series((second,) * MOST_QUESTIONS)
    with pytest.raises(SeriesError, match="at most"):
        full.with_items([Own("One more?", ("yes", "no"), 0)])


def test_an_own_question_is_text_with_one_right_option() -> None:
    asked = own_question(Own(HOSTILE, ("a", HOSTILE), 1))
    assert asked.answer == 1 and plain(asked.prompt) == HOSTILE and plain(asked.options[1].text) == HOSTILE
    assert "<" not in asked.prompt.replace(r"\<", "") and asked.hidden().is_open


def test_only_the_teacher_keeps_a_series_and_it_goes_with_the_room(rooms: Rooms, engine: Engine) -> None:
    code, key = rooms.create()
    with pytest.raises(NotTheTeacher):
        rooms.set_series(code, "x" * 22, written(SERIES))
    with pytest.raises(ValueError, match="at most"):
        rooms.set_series(code, key, "x" * (MOST_SERIES + 1))
    rooms.set_series(code, key, written(SERIES), 1)
    taught = rooms.taught(code, key)
    assert read(taught.series) == SERIES and taught.place == 1
    rooms.delete(code, key)
    with engine.begin() as connection:
        assert connection.execute(select(ROOMS)).all() == []
