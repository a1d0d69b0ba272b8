"""The minutes of a lesson are those of its steps, and a reader who reads every word needs about as many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.course.pages import LESSONS, Lesson
from tests.pages.apptest import reveal, turn_to, visit, words

# Words on every step that are no part of it: the header, what is looked up, the papers.
_FRAME = 150


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_the_steps_on_the_way_have_their_minutes(lesson: Lesson) -> None:
    at = visit(Path(lesson.page).name)
    row = at.segmented_control(key="step").options
    steps = [step for step in lesson.steps if step.minutes and step.models != "causal"]
    assert list(row) == [step.name for step in steps] and lesson.minutes == sum(step.minutes or 0 for step in steps)
    assert f"This step: {steps[0].minutes} min · lesson: {lesson.minutes} min" in words(at)
    last = steps[-1]
    read = len(re.findall(r"\w+", words(reveal(turn_to(at, last.id))))) - _FRAME
    assert f"This step: {last.minutes} min · lesson: {lesson.minutes} min" in words(at)
    assert read / 300 <= (last.minutes or 0) <= read / 50 + 3


def test_a_step_beside_the_way_has_none_of_its_own() -> None:
    lesson = LESSONS[2]
    shown = words(visit(Path(lesson.page).name, step="break-it"))
    assert f"lesson: {lesson.minutes} min" in shown and "This step" not in shown
