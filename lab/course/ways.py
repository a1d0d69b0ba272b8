"""The two ways through the course, as lists of steps: the whole course, and the idea in 38 minutes."""

from __future__ import annotations

from dataclasses import dataclass

from lab.course.pages import LESSONS, Lesson, Step, lesson_of

# The names of the ways in a link.
WHOLE, SHORT = "whole", "short"
NAMES = {WHOLE: "The whole course", SHORT: "The idea, in 38 minutes"}


@dataclass(frozen=True)
class WayStage:
    """A step on a way, and its lesson."""

    lesson: Lesson
    step: Step

    @property
    def key(self) -> tuple[str, str]:
        """The ids of lesson and step, as progress names them."""
        return self.lesson.id, self.step.id


def way(name: str) -> tuple[WayStage, ...]:
    """The steps of a way, in their order. Steps for causal models only are on no way.

    Raises KeyError if no way has this name.
    """
    wanted = {WHOLE: lambda step: not step.aside, SHORT: lambda step: step.short}[name]
    stages = (WayStage(lesson, step) for lesson in LESSONS for step in lesson.steps)
    return tuple(stage for stage in stages if wanted(stage.step) and stage.step.models != "causal")


def minutes(name: str) -> int:
    """The time that a careful reader needs for a way."""
    return sum(stage.step.minutes or 0 for stage in way(name))


def neighbours(name: str, lesson: str, step: str) -> tuple[WayStage | None, WayStage | None]:
    """The stages of a way before and after a step, which need not be on the way itself; None at its ends."""
    order = [(each.id, step.id) for each in LESSONS for step in each.steps]
    here = order.index((lesson, lesson_of(lesson).step(step).id))
    before = [stage for stage in way(name) if order.index(stage.key) < here]
    after = [stage for stage in way(name) if order.index(stage.key) > here]
    return before[-1] if before else None, after[0] if after else None
