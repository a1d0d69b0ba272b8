"""A lesson opens with the last stop and closes with a recap and one primary button; a class gets neither."""

from __future__ import annotations

import pytest

from lab.course.pages import LESSONS, Lesson, lesson_of
from tests.pages.apptest import turn_to, visit, words


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_lesson_says_where_it_comes_from_and_what_to_keep(lesson: Lesson) -> None:
    story, page = lesson.story, lesson.page.removeprefix("pages/")
    at = visit(page)
    assert story.now in words(at) and story.remember not in words(at)
    turn_to(at, "check")
    assert story.now not in words(at) and story.remember in words(at)
    assert all(each in words(at) for each in story.recap)
    assert at.button(key="_next_page").proto.type == "primary"


def test_before_a_class_the_screen_is_for_the_figure() -> None:
    story = lesson_of("self-attention").story
    assert story.now not in words(visit("3_Self-attention.py", teach="1"))
    assert story.remember not in words(visit("3_Self-attention.py", teach="1", step="check"))
