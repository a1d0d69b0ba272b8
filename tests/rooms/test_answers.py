"""An answer is the place of an option; a question is what it was after it was stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.questions.question import QuestionPicture
from lab.rooms.questions import read, written
from lab.rooms.rooms import NotNow, Rooms
from tests.rooms.test_rooms import opened, posed, rounds


def test_a_question_is_what_it_was_after_json() -> None:
    picture = QuestionPicture("data:image/png;base64,AAAA", "A map")
    for each in (posed(), replace(posed(), link={"text": "é 猫"}, picture=picture)):
        assert read(written(each)) == each and read(written(each.hidden())) == each.hidden()


@pytest.mark.parametrize("value", [-1, 3, 70_000, 2**40])
def test_what_no_option_has_is_no_answer(rooms: Rooms, value: int) -> None:
    code, key, (who, *_) = opened(rooms)
    with pytest.raises(NotNow, match="no such answer"):
        rooms.vote(code, who, 1, 1, value, 1)
    assert rounds(rooms, code, key) == ()
