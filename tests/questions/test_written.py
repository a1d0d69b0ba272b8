"""Questions that are written, not made from a run: fair options, each with a reason of its own."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

import lab
from lab.course.pages import LESSONS, lesson_of
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.play import askings
from lab.models.catalogue import DEFAULT_MODEL
from lab.questions.question import Question
from lab.questions.spot import Spot

TEXTS = (STORY_TEXT, lesson_of("inter-sentence-attention").text)


@cache
def written() -> tuple[Question, ...]:
    """The written questions of the lessons on the course's sentences."""
    spot = Spot(lab.trace(lab.load_model(DEFAULT_MODEL), STORY_TEXT), 0, 0, 0, 0)
    asked = [each for lesson in LESSONS if lesson.text in TEXTS for each in askings(lesson) if each.always]
    return tuple(question for each in asked if (question := each(spot)) is not None)


@pytest.mark.parametrize("question", written(), ids=lambda question: question.id)
def test_each_option_has_a_reason_of_its_own(question: Question) -> None:
    whys = [option.why for option in question.options]
    assert all(whys) and len({*whys}) == len(whys) and question.hint


def test_a_letter_is_right_as_often_as_another() -> None:
    letters = Counter(question.answer for question in written() if len(question.options) == 3)
    assert set(letters) == {0, 1, 2} and max(letters.values()) - min(letters.values()) <= 2, letters


def test_the_longest_option_is_right_no_more_often_than_by_chance() -> None:
    longest = [
        max(question.options, key=lambda option: len(option.text)).correct for question in written()
    ]  # ties count for the first option
    chance = sum(1 / len(question.options) for question in written())
    assert sum(longest) <= chance, f"{sum(longest)} of {len(longest)}"


def test_no_idea_is_asked_twice() -> None:
    assert len({question.id for question in written()}) == len(written())
