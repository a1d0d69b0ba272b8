"""Plans fill their minutes, and each of their questions is asked by the step that the plan names."""

from __future__ import annotations

import pytest

from lab.classroom.plan import PLANS, asked, series_of
from lab.course.pages import lesson_of
from lab.lessons.play import for_a_class, step_file
from lab.questions.asking import Asking
from lab.rooms.series import read, written
from tests.pages.apptest import visit, words


@pytest.mark.parametrize("minutes", PLANS)
def test_a_plan_is_as_long_as_it_says_and_its_questions_exist(minutes: int) -> None:
    askings = for_a_class()
    assert sum(part.minutes for part in PLANS[minutes]) == minutes
    series = series_of(minutes, askings)
    assert read(written(series)) == series
    for part in PLANS[minutes]:
        if not part.question:
            continue
        question = asked(part, askings)
        assert question is not None and question.options[question.answer].why, part.question
        lesson = lesson_of(part.lesson)
        own = [each for each in vars(step_file(lesson, part.step)).values() if isinstance(each, Asking)]
        assert any(each in own for each in askings[part.lesson]), part.step


@pytest.mark.parametrize("minutes", PLANS)
def test_a_plan_is_printed_with_its_answer_key(minutes: int) -> None:
    at = visit("40_Room.py", plan=str(minutes))
    assert not at.exception and f"A class of {minutes} minutes" in [each.value for each in at.title]
    assert words(at).count("Answer: ") == sum(bool(part.question) for part in PLANS[minutes])
