"""Each question of a plan is asked by the step that the plan names; the page that prints has its answer key."""

from __future__ import annotations

import pytest

from lab.classroom.class_plans import PLANS, series_of
from lab.course.pages import lesson_of
from lab.lessons.open_lesson import step_file, written
from lab.questions.asking import Asking
from lab.questions.question import lettered
from lab.rooms import series
from lab.rooms.series import Own, PreparedQuestion
from lab.rooms.server import server
from tests.pages.apptest import visit, words
from tests.pages.test_room import ROOM, Browsers, browsers, everything

__all__ = ["browsers"]  # a fixture


@pytest.mark.parametrize("minutes", PLANS)
def test_the_questions_of_a_plan_exist(minutes: int) -> None:
    made = series_of(minutes, written)
    assert series.read(series.written(made)) == made and len(made.items) == len(PLANS[minutes])
    assert 10 < minutes - 8 * len(made.items) < 20  # the time for the first page and the class's model
    for part in PLANS[minutes]:
        own = [each for each in vars(step_file(lesson_of(part.lesson), part.step)).values() if isinstance(each, Asking)]
        assert part.question in [asked.id for each in own if each.always and (asked := each()) is not None], part.step


def test_before_the_class_its_answer_key_is_printed_and_no_answer_afterwards(browsers: Browsers) -> None:
    code, key = server().create()
    rooms = server().rooms
    of_a_sentence = PreparedQuestion("self-attention", "Check", {"text": "A <b>cat</b>."}, "Where to <b>it</b>?")
    own = Own("<b>Own</b>?", ("yes", "no"), 0, "Because.")
    items = (*series_of(90, written).items, own, of_a_sentence)
    rooms.set_series(code, key, series.written(series.Series(items)))
    at = visit(ROOM, room=code, key=key, summary="1")
    assert not at.exception and "Prepared questions: 11" in words(at) and len(at.success) == 10
    for part in PLANS[90]:
        asked = next(each for each in written(lesson_of(part.lesson)) if each.id == part.question)
        assert f"{lettered(asked, asked.answer)}. {asked.options[asked.answer].why}" in [
            one.value for one in at.success
        ]
    assert "Because" in words(at) and "computes the answer" in words(at)
    assert r"\<b\>it" in at.header[-1].value
    rooms.ask(code, key, series.own_question(own))
    assert "Because" not in everything(visit(ROOM, room=code, key=key, summary="1"))


def test_a_stranger_gets_no_answer_key(browsers: Browsers) -> None:
    code, key = server().create()
    server().rooms.set_series(code, key, series.written(series_of(45, written)))
    assert "answer key" not in words(visit(ROOM, room=code, summary="1")).lower()
