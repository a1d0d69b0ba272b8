"""The teacher keeps order: the door, somebody taken out, a round emptied; and what the others are told."""

from __future__ import annotations

import pytest

from lab.rooms import states
from lab.rooms.server import server
from lab.rooms.states import Phase
from tests.pages.apptest import press, visit, words
from tests.pages.test_room import ROOM, Browsers, again, answer, begin, browsers, labels

__all__ = ["browsers"]  # a fixture


def test_the_teacher_is_told_of_a_crowd_and_closes_the_door(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "AT_ONCE", 3)
    monkeypatch.setattr(states, "EVERY", 60.0)
    teacher, code, _, _ = begin()
    teacher.switch_page(f"pages/{ROOM}")
    assert "unusually fast" not in words(again(teacher))
    for each in range(3):
        browsers.who = f"visit {each}"
        assert visit(ROOM, room=code).radio
    browsers.who = "late"
    late = visit(ROOM, room=code)
    assert "Many people come in at this moment" in words(late) and not late.radio
    assert "unusually fast: 3 in the last minute" in words(again(teacher))
    press(teacher, "Close the door")
    assert "The door is closed" in words(teacher)
    assert "closed the door" in words(again(late)) and not late.radio
    monkeypatch.setattr(states, "AT_ONCE", 50)
    press(teacher, "Open the door")
    assert again(late).radio and server().rooms.seen(code).state.people == 4


def test_whoever_is_taken_out_is_told_and_can_come_in_again(browsers: Browsers) -> None:
    teacher, code, key, _ = begin()
    browsers.who = "late"
    learner = answer(visit(ROOM, room=code), 0)
    teacher.switch_page(f"pages/{ROOM}")
    press(again(teacher), "Take them out")
    assert "1 person was removed from the room, and the door is now closed" in words(teacher)
    state = server().rooms.taught(code, key).state
    assert (state.people, state.answers) == (0, 0)
    assert "removed you" in words(again(learner)) and not learner.radio
    assert "Your answer is in" not in words(learner)
    press(learner, "Come in again")
    assert "closed the door" in words(learner)
    press(teacher, "Open the door")
    assert again(learner).radio and "Your answer is in" not in words(learner)
    assert "Your answer is in" in words(answer(learner, 1))


def test_a_round_that_is_emptied_is_answered_again(browsers: Browsers) -> None:
    teacher, code, key, _ = begin()
    browsers.who = "somebody"
    learner = answer(visit(ROOM, room=code), 0)
    teacher.switch_page(f"pages/{ROOM}")
    press(again(teacher), "Empty the round")
    assert server().rooms.taught(code, key).state.answers == 0
    assert "deleted the answers of this round" in words(again(learner)) and "Your answer is in" not in words(learner)
    assert "Your answer is in" in words(answer(learner, 0)) and "emptied" not in words(learner)
    assert "Your answer is in" in words(again(learner))
    press(teacher, "Close the round")
    assert server().rooms.seen(code).state.phase is Phase.CLOSED and "Empty the round" not in labels(teacher)
