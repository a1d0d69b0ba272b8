"""A class that types numbers and picks tokens, and the summary to print, on the pages themselves; nothing leaks."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from lab.questions.forms import NumberAnswer, PlaceAnswer
from lab.rooms.server import server
from lab.rooms.states import Phase
from tests.pages.apptest import turn_to, visit, words
from tests.pages.test_room import (
    ROOM,
    Browsers,
    again,
    begin,
    browsers,
    everything,
    labels,
    press,
    say_sure,
    send,
)

__all__ = ["browsers"]  # a fixture
NUMBERS = "3_Self-attention.py"  # a lesson that asks for a number


def type_in(at: AppTest, text: str) -> AppTest:
    """A number, sent."""
    next(each for each in at.text_input if each.label.startswith("Your answer")).set_value(text)
    return press_sure(at)


def test_a_class_types_a_number_three_times(browsers: Browsers) -> None:
    teacher, code, key, question = begin("Ask for the number", NUMBERS, "all-rows")
    rooms, right = server().rooms, question.number
    assert isinstance(right, NumberAnswer)
    for each in range(5):
        browsers.who = f"{each:032x}"
        learner = visit(ROOM, room=code)
        value = right.value if each else right.bounds.high
        sent = everything(type_in(learner, f"{value:.6f}".replace(".", ",")))
        assert "Your answer is in" in words(learner)
        assert [one.text for one in question.options if one.why in sent] == [] and "Number(" not in sent
        assert not learner.radio and 'class="votes"' not in sent
    assert "not a number" in words(type_in(learner, "many"))
    assert "cannot be the answer" in words(type_in(learner, "99999"))
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    teacher.switch_page(f"pages/{ROOM}")
    again(teacher)
    assert "80% of the answers are right" in words(teacher) and "✓" not in everything(teacher)
    press(teacher, "Reveal to the class")
    told = words(again(learner))
    assert "counts as right" in told and "4 of 5" not in told
    assert "✓" in everything(learner)


def test_a_question_without_a_number_is_not_asked_for_one(browsers: Browsers) -> None:
    at = visit(ROOM)
    press(at, "Open a room")
    at.session_state["teach"] = 1
    at.switch_page(f"pages/{NUMBERS}").run()
    turn_to(at, "all-rows")
    assert labels(at).count("Ask for the number") == labels(at).count("Ask the class") == 1
    turn_to(at, "check")
    assert labels(at).count("Ask for the number") == 0 < labels(at).count("Ask the class")


def test_a_class_picks_a_token_of_all(browsers: Browsers) -> None:
    teacher, code, key, question = begin("Ask the class to pick", NUMBERS)
    rooms, place = server().rooms, question.place
    assert isinstance(place, PlaceAnswer)
    assert len(place.picks.tokens) > len(question.options)
    for each in range(5):
        browsers.who = f"{each:032x}"
        learner = visit(ROOM, room=code)
        pills = next(one for one in learner.pills if one.label == "Pick a token")
        assert len(pills.options) == len(place.picks)
        pills.set_value(place.right if each else (place.right + 1) % len(place.picks))
        sent = everything(press_sure(learner))
        assert "Your answer is in" in words(learner)
        assert [one.text for one in question.options if one.why in sent] == [] and "Place(" not in sent
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    teacher.switch_page(f"pages/{ROOM}")
    again(teacher)
    assert "✓" not in everything(teacher)
    press(teacher, "Reveal to the class")
    assert "✓" in everything(again(learner))
    press(teacher, "Ask a third question")
    told = rooms.taught(code, key).question
    assert told is not None and told.third is not None and told.third.picks is not None
    assert told.third.picks.tokens != place.picks.tokens


def press_sure(at: AppTest) -> AppTest:
    say_sure(at, 3)
    return send(at)


def test_the_summary_to_print_is_the_teachers_and_leaves_out_what_is_open(browsers: Browsers) -> None:
    _, code, key, question = begin()
    rooms = server().rooms
    for each in range(6):
        rooms.vote(code, rooms.join(code, f"visit {each}"), 1, 1, question.answer, 3)
    printed = visit(ROOM, room=code, summary="1")
    assert "You are in" not in words(printed) and question.options[question.answer].why not in everything(printed)
    printed.session_state["_room_keys"] = {code: key}
    again(printed)
    assert "Questions: 0" in words(printed) and "not on this page yet" in words(printed)
    assert question.options[question.answer].why not in everything(printed)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    told = words(again(printed))
    assert "Questions: 1" in told and "save it as PDF" in told and "**100%** of 6" in told
    assert question.options[question.answer].why in told and "@media print" in everything(printed)
