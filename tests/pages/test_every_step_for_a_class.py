"""Each step that asks a class something can be put to a class in a room; nothing is asked without its figure."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import LESSONS, Lesson
from lab.rooms.server import server
from tests.pages.apptest import go, visit, words
from tests.pages.test_room import Browsers, browsers, labels
from tests.thorough import one_by_day, some

__all__ = ["browsers"]  # a fixture


def questions(at: AppTest) -> int:
    """The questions on screen that wait for a class."""
    return labels(at).count("Reveal here")


@one_by_day
@pytest.mark.parametrize("lesson", some(LESSONS, 4), ids=lambda lesson: lesson.id)
def test_whatever_a_step_asks_a_class_can_be_put_to_it(browsers: Browsers, lesson: Lesson) -> None:
    code, key = server().create()
    at = visit(lesson.page.removeprefix("pages/"), teach="1", room=code)
    at.session_state["_room_keys"] = {code: key}
    asked = 0
    for step in (each for each in lesson.steps if each.models != "causal"):
        go(at, step.id)
        here = questions(at)
        asked += here
        offered = labels(at).count("Ask the class")
        assert offered == here, (step.id, [each for each in words(at).split("\n") if "cannot be asked" in each])
    assert asked >= 3
