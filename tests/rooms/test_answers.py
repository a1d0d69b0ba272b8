"""Answers that are no choice: counted in bins and on places, told to nobody before the reveal."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from lab.questions.forms import Bounds, Kind, NumberAnswer, Picks, PlaceAnswer
from lab.questions.question import Question
from lab.rooms.codes import new_secret
from lab.rooms.questions import read, written
from lab.rooms.rooms import NotNow, Rooms
from lab.rooms.states import Phase
from tests.rooms.test_rooms import opened, posed, rounds


def a_number() -> Question:
    """0.34 is right, and what is within 0.02 of it."""
    number = NumberAnswer(0.34, 0.02, Bounds(0.0, 1.0, ""), (0.28, 0.32, 0.36, 0.4))
    return replace(posed(), number=number)


def a_place() -> Question:
    """The third of four tokens is right."""
    return replace(posed(), place=PlaceAnswer(2, Picks(("he", "saw", "her", "."))))


def hidden(**limits: Any) -> Question:
    """The question before the reveal: only its words, and the limits of an answer."""
    return Question("most-attended", "Which?", (), lesson="self-attention", about="Asked about “x”", **limits)


def test_a_question_is_what_it_was_after_json() -> None:
    heads = replace(posed(), place=PlaceAnswer(7, Picks(layers=2, heads=6)), link={"text": "é 猫"})
    unbounded = replace(posed(), number=NumberAnswer(-3.5, 0.1, Bounds(-math.inf, math.inf, "nats"), (-3.6, -3.4)))
    for each in (posed(), a_number(), a_place(), heads, unbounded):
        assert read(written(each)) == each and read(written(each.hidden())) == each.hidden()


def test_a_number_is_counted_in_bins_and_right_within_its_tolerance(rooms: Rooms) -> None:
    code, key = rooms.create()
    people = [rooms.join(code, new_secret()) for _ in range(7)]
    rooms.ask(code, key, a_number())
    for who, value in zip(people, (0.0, 0.3, 0.32, 0.34, 0.36, 0.38, 1.0), strict=True):
        rooms.vote(code, who, 1, 1, value, 3)
    (found,) = rounds(rooms, code, key)
    assert (found.options, found.answer, found.right) == ((1, 1, 3, 1, 1), 2, 3 / 7)
    assert (found.sure_and_wrong, found.common_error) == (4, None)
    assert rooms.seen(code, people[1]).mine == {1: (0.3, 3)}
    for never in (-0.01, 1.01, float("nan"), float("inf")):
        with pytest.raises(NotNow, match="no such answer"):
            rooms.vote(code, people[0], 1, 1, never, 1)
    rooms.vote(code, people[0], 1, 1, 0.35, 1)
    assert rounds(rooms, code, key)[0].options == (0, 1, 4, 1, 1)


def test_a_number_that_is_asked_for_is_nowhere_before_the_reveal(rooms: Rooms) -> None:
    code, key, _ = opened(rooms)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    rooms.step(code, key, Phase.REVEALED, Phase.LOBBY)
    rooms.ask(code, key, a_number())
    for now, then in pairwise((Phase.OPEN, Phase.CLOSED, Phase.REVEALED)):
        found = rooms.seen(code)
        assert found.question == hidden(number=Bounds(0.0, 1.0, ""))
        assert not [told for told in ("0.34", "0.02", "0.28", "0.32", "Why") if told in str(found)]
        rooms.step(code, key, now, then)
    assert rooms.seen(code).question == a_number()
    assert a_number().kind is Kind.NUMBER


def test_an_option_is_a_whole_number(rooms: Rooms) -> None:
    code, _, (who, *_) = opened(rooms)
    for value in (0.5, float("nan")):
        with pytest.raises(NotNow, match="no such answer"):
            rooms.vote(code, who, 1, 1, value, 1)


def test_a_place_is_counted_where_it_is(rooms: Rooms) -> None:
    code, key = rooms.create()
    people = [rooms.join(code, new_secret()) for _ in range(6)]
    rooms.ask(code, key, a_place())
    assert rooms.seen(code).question == hidden(place=Picks(("he", "saw", "her", ".")))
    for value, who in zip((2, 2, 2, 0, 3, 0), people, strict=True):
        rooms.vote(code, who, 1, 1, value, 3)
    (found,) = rounds(rooms, code, key)
    assert (found.options, found.answer, found.right, found.common_error) == ((2, 0, 3, 1), 2, 0.5, 0)
    for never in (4, -1, 0.5):
        with pytest.raises(NotNow, match="no such answer"):
            rooms.vote(code, people[0], 1, 1, never, 1)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    assert "Why" not in str(rooms.seen(code)) and "right" not in str(rooms.seen(code).question)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    assert rooms.seen(code).question == a_place() and a_place().kind is Kind.PLACE
