"""Lesson 11: A task of your own. Each step is the file of its id; ``lesson.toml`` has their order and fixed texts."""

from __future__ import annotations

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import LessonRun, Parts, at_the_run

LESSON = "a-task-of-your-own"


def show_ending(page: LessonPage, trace: Trace) -> None:
    """Draw the end of the page; see :mod:`lab.lessons.a_task_of_your_own.onward`."""
    from lab.lessons.a_task_of_your_own.onward import show_onward

    show_onward(page, trace)


PARTS: Parts[LessonRun] = Parts(look=at_the_run, ending=show_ending)
