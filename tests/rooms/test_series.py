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
    LONGEST_OPTION,
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
        '{"items": [{"kind": "own", "said": " \\n", "options": ["a", "b"], "right": 0}]}',
        '{"items": [{"kind": "own", "said": "x", "options": ["a", "\\u200b"], "right": 0}]}',
        '{"items": [{"kind": "own", "said": "x", "options": ["a b", "a  b"], "right": 0}]}',
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
    assert SERIES.moved_up(1, 0).items == (second, first) and SERIES.without(0).items == (second,)
    full = Series((second,) * MOST_QUESTIONS)
    with pytest.raises(SeriesError, match="at most"):
        full.with_items([Own("One more?", ("yes", "no"), 0)])
    assert Series().with_items([second, first, second]).items == (second, first)
    with pytest.raises(SeriesError, match="no longer"):
        SERIES.at(Own("Removed?", ("yes", "no"), 0))


@pytest.mark.parametrize("asked", range(5))
def test_no_move_makes_an_asked_question_wait_or_a_waiting_one_asked(asked: int) -> None:
    every = Series(tuple(Own(f"Question {place}?", ("yes", "no"), 0) for place in range(4)))
    for place in range(4):
        try:
            moved = every.moved_up(place, asked)
        except SeriesError:
            assert place in (0, asked)
            continue
        assert moved.items[place - 1] == every.items[place] and set(moved.items) == set(every.items)
        assert set(moved.items[:asked]) == set(every.items[:asked])


def test_an_own_question_is_text_with_one_right_option() -> None:
    asked = own_question(Own(HOSTILE, ("a", HOSTILE), 1))
    assert asked.answer == 1 and plain(asked.prompt) == HOSTILE and plain(asked.options[1].text) == HOSTILE
    assert "<" not in asked.prompt.replace(r"\<", "") and asked.hidden().is_open


ONE_FORM = [
    ("Which one\nis it?", ("5 %", "6 %")),
    ("Which  one ?", ("a b", "a\nc")),
    ("\tWhich\u00a0one?\u2028", ("x\u2003y", " z ")),
    ("Cafe\u0301?\x00\x07", ("no\x00", "yes")),
    (HOSTILE, ("\\n", "n")),
    ("\ud83d\ude00 and \ud800?", ("\ud800", "b")),
]


@pytest.mark.parametrize(("said", "options"), ONE_FORM)
def test_an_own_question_has_one_form_from_the_form_or_the_file_to_the_class(
    said: str, options: tuple[str, str]
) -> None:
    """The text of the question that the class gets is the text in the series, so the series finds it again."""
    typed = Own(said, options, 1, f" why{said} ")
    items = [{"kind": "own", "said": said, "options": options, "right": 1, "why": f" why{said} "}]
    if "\ud800" not in said:  # no file in UTF-8 has half a character
        assert read(json.dumps({"items": items})) == Series((typed,))
    assert read(written(Series((typed,)))) == Series((typed,))
    asked = own_question(typed)
    assert plain(asked.prompt) == typed.said and tuple(plain(each.text) for each in asked.options) == typed.options
    before = Own("Another one?", ("a", "b"), 0)
    assert Series((before, typed)).place_of(asked, 0) == 1
    for text in (typed.said, *typed.options):
        assert text == " ".join(text.split()) and "\x00" not in text
        text.encode()  # a database keeps it


@pytest.mark.parametrize(
    "options",
    [
        ("5 %", "5\u00a0%"),
        ("a b", "a  b"),
        ("a b", "a\nb"),
        ("a", " a "),
        ("a", "a\u200b"),
        ("caf\u00e9", "cafe\u0301"),
        ("a", "a\x00"),
        ("\u202ea", "a"),
        ("a", ""),
        ("a", " "),
        ("a", "\u200b\u00ad"),
    ],
)
def test_options_that_nobody_can_tell_apart_are_refused(options: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="answer"):
        Own("Which?", options, 0)
    with pytest.raises(SeriesError, match="answer"):
        read(json.dumps({"items": [{"kind": "own", "said": "Which?", "options": options, "right": 0}]}))


def test_an_own_question_that_can_be_kept_can_be_opened() -> None:
    """A text may become longer in its one form; a series that nobody can open would lock its room's other questions."""
    for said, options in (("\u0958" * LONGEST, ("a", "b")), ("x", ("a", "\u0958" * LONGEST_OPTION))):
        with pytest.raises(ValueError, match="characters"):
            Own(said, options, 0)
    codes = ("gbeng\x7f", "gbsct\x7f")  # two flags, which differ in signs without a width
    england, scotland = ("🏴" + "".join(chr(0xE0000 + ord(sign)) for sign in code) for code in codes)
    assert len({*own_question(Own("Which flag?", (england, scotland), 0)).options}) == 2


def test_what_is_wrong_with_a_file_is_said_without_its_signs() -> None:
    with pytest.raises(SeriesError) as refused:
        read('{"items": [{"kind": "own", "said": "x", "options": ["a", "a"], "right": 0}]}')
    assert str(refused.value).endswith("answers.") and ".." not in str(refused.value)


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
