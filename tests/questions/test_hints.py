"""A first wrong answer meets a hint: every check with a choice left has one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.course.pages import CHECK_STEP, LESSONS, Lesson
from lab.questions.question import Option, Question
from lab.ui.parameters import TOY
from lab.ui.quiz import draw_check
from tests.pages.apptest import visit
from tests.sentences import STORY

TEXTS = {"text": f"{STORY} He read it twice, and then he gave it back."}
VISITS: tuple[dict[str, str], ...] = (
    {},
    {"model": "lab-gpt2"},
    {"mode": TOY},
    {"pair": "He thanked her unbelievably politely."},
)


def test_two_options_leave_nothing_to_try_again() -> None:
    options = tuple(Option(str(i), "why", correct=i == 0) for i in range(3))
    assert Question("q", "?", options, hint="Look.").hint_after_wrong == "Look."
    assert Question("q", "?", options[:2], hint="Look.").hint_after_wrong == ""


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_every_check_of_a_lesson_has_a_hint(lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Question] = []

    def noted(lesson: str, number: int, question: Question, *rest: Any) -> None:
        asked.append(question)
        ask_one(lesson, number, question, *rest)

    ask_one = draw_check.ask_one
    monkeypatch.setattr(draw_check, "ask_one", noted)
    for given in VISITS:
        visit(Path(lesson.page).name, step=CHECK_STEP, **{**TEXTS, **given})
    assert asked
    assert {each.id for each in asked if len(each.options) > 2 and not each.hint_after_wrong} == set()
