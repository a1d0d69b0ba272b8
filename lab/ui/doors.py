"""The ways from a figure to the lessons."""

from __future__ import annotations

from urllib.parse import urlencode

from lab.charts.components.figure_doors import LessonDoor
from lab.course.pages import LESSONS, Lesson, number
from lab.ui import selection
from lab.ui.selection import Selection


def doors_at(stop: str, now: Selection, here: str = "") -> list[LessonDoor]:
    """The ways to the lessons about a stop, for the selection ``now``; ``here`` is the id of the lesson on screen."""
    return [door_to(lesson, now, here) for lesson in LESSONS if lesson.stop == stop]


def door_to(lesson: Lesson, now: Selection, here: str = "") -> LessonDoor:
    """The way to a lesson, with an address for readers who open the lesson in a new tab."""
    query = urlencode(selection.link(lesson, now))
    address = f"{lesson.slug}?{query}" if query else lesson.slug
    return LessonDoor(lesson.id, number(lesson), lesson.title, address, lesson.id == here)
