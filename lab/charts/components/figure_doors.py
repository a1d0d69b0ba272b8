"""A way from a figure to a lesson, as the browser gets it; ``door`` in ``shared.js`` makes the link."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LessonDoor:
    """The way to a lesson: its id, number and title, its address, and whether it is the lesson on screen."""

    id: str
    number: int
    title: str
    address: str
    here: bool = False
