"""Opens a lesson by its id: its own screens, and the earlier lessons whose questions it asks again."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING

from lab.course.pages import LESSONS, lesson_of, number
from lab.ui import shell

if TYPE_CHECKING:
    from lab.questions.returning import Returning


def play(id: str) -> None:
    """Run the page of the lesson with this id. The page's file calls this and nothing else.

    What needs PyTorch is imported only here: on a new server, the shell says first that it loads.
    """
    shell.route()
    play_page = import_module("lab.ui.play").play
    play_page(id, part(id, "page").SCREENS, {before: part(before, "again").questions for before in asked_again(id)})


def part(id: str, name: str) -> ModuleType:
    """A module of a lesson's folder: ``page`` or ``again``."""
    return import_module(f"lab.lessons.{id.replace('-', '_')}.{name}")


def asked_again(id: str) -> list[str]:
    """The earlier lessons by id, the lesson whose questions return first at the front.

    The lesson before the last comes first, because more of it is forgotten; then the last one, then the others.
    """
    before = [lesson.id for lesson in LESSONS[: number(lesson_of(id)) - 1]][::-1]
    return [*before[1:2], *before[:1], *before[2:]]


def for_a_class() -> dict[str, Returning]:
    """All questions that a class can be asked about a text, by the lesson's id.

    They include questions that no later lesson asks, as the figure with the answer is gone: a class gets another
    sentence.
    """
    return {lesson.id: _all(part(lesson.id, "again")) for lesson in LESSONS}


def _all(again: ModuleType) -> Returning:
    to_pick: Returning = getattr(again, "to_pick", lambda spot: ())
    return lambda spot: chain(again.questions(spot), to_pick(spot))
