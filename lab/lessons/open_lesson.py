"""Opens a lesson by its id: the files of its steps, and the questions that earlier lessons asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from lab.course.pages import LESSONS, Lesson, lesson_of, number
from lab.ui import shell
from lab.ui.play import file_of

if TYPE_CHECKING:
    from lab.questions.asking import Asking
    from lab.questions.question import Question


def play(id: str) -> None:
    """Run the page of the lesson with this id. The page's file calls this and nothing else.

    What needs PyTorch is imported only here: on a new server, the shell says first that it loads.
    """
    shell.route()
    play_page = import_module("lab.ui.play").play
    play_page(id, _folder(id).PARTS, lambda step: step_file(lesson_of(id), step).show, lambda: written_before(id))


def _folder(id: str) -> ModuleType:
    return import_module(f"lab.lessons.{id.replace('-', '_')}")


def step_file(lesson: Lesson, step: str) -> ModuleType:
    """Import the file of a step, which is named after the step's id.

    Raises ValueError, with the gap, for a step without a file, and for a file that shows nothing.
    """
    return file_of(step, lesson.id, _folder(lesson.id), "lesson.toml")


def askings(lesson: Lesson) -> Iterator[Asking]:
    """The questions in the files of a lesson's steps, in their order; raises as :func:`step_file` does."""
    from lab.questions.asking import Asking

    for step in lesson.steps:
        found = step_file(lesson, step.id)
        yield from (
            each for each in vars(found).values() if isinstance(each, Asking) and each.make.__module__ == found.__name__
        )


def written(lesson: Lesson) -> Iterator[Question]:
    """The questions of a lesson that are about no run, in their order."""
    for asking in askings(lesson):
        if asking.always and (asked := asking()) is not None:
            yield replace(asked, lesson=lesson.id)


def written_before(id: str) -> Iterator[Question]:
    """The written questions of the lessons that come at least two lessons before this one, in their order."""
    for lesson in LESSONS[: max(number(lesson_of(id)) - 2, 0)]:
        yield from written(lesson)
