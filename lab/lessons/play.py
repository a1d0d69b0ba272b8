"""Opens a lesson by its id: the files of its steps, and the earlier lessons whose questions it asks again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from lab.course.pages import LESSONS, Lesson, lesson_of, number
from lab.ui import shell
from lab.ui.step_files import file_of

if TYPE_CHECKING:
    from lab.questions.asking import Asking
    from lab.questions.question import Question
    from lab.questions.returning import Returning, Spot


def play(id: str) -> None:
    """Run the page of the lesson with this id. The page's file calls this and nothing else.

    What needs PyTorch is imported only here: on a new server, the shell says first that it loads.
    """
    shell.route()
    play_page, later = import_module("lab.ui.play").play, import_module("lab.questions.returning").later
    here = number(lesson_of(id))
    earlier = {before: later(returning(before), here - number(lesson_of(before)) - 1) for before in asked_again(id)}
    play_page(id, _folder(id).PARTS, lambda step: step_file(lesson_of(id), step).show, earlier)


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


def returning(id: str) -> Returning:
    """Return what makes the questions of a lesson that later lessons may ask again, those that return soonest first."""
    asked = sorted(
        (asking for asking in askings(lesson_of(id)) if asking.returns > 0), key=lambda asking: asking.returns
    )

    def ask(spot: Spot) -> Iterator[Question | None]:
        return (asking(spot) for asking in asked)

    return ask


def asked_again(id: str) -> list[str]:
    """The earlier lessons by id, the lesson whose questions return first at the front.

    The lesson before the last comes first, because more of it is forgotten; then the last one, then the others.
    """
    before = [lesson.id for lesson in LESSONS[: number(lesson_of(id)) - 1]][::-1]
    return [*before[1:2], *before[:1], *before[2:]]


def for_a_class() -> dict[str, Sequence[Asking]]:
    """All questions that a class can be asked about a text, by the lesson's id.

    They include questions that no later lesson asks, as the figure with the answer is gone: a class gets another
    sentence.
    """
    return {
        lesson.id: sorted(
            (asking for asking in askings(lesson) if asking.returns > 0 or asking.for_a_class or asking.always),
            key=lambda asking: asking.returns,
        )
        for lesson in LESSONS
    }
