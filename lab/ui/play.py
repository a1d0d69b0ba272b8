"""Run a lesson: its input, the file and the screen of a step, questions from earlier lessons, the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Generic, TypeVar

import streamlit as st

from lab.course.pages import CHECK
from lab.course.sentences.looks import look_head
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.ui.chosen_tokens import with_tokens
from lab.ui.drawing import take_click
from lab.ui.page import LessonPage, OpenPage, open_lesson
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import MODE, TOY
from lab.ui.quiz.draw_check import bring_back
from lab.ui.shared.one_head import OneHead
from lab.ui.toys.toy_controls import TOY_STEPS, ToySteps, toy_trace

View = TypeVar("View")
P = TypeVar("P", bound=OpenPage)
# Draws a step from its view. Returns the run that the badge proves, if it is not the run of the page.
Step = Callable[[View], Trace | None]
# Draws the controls of the sidebar, and makes the view of a step by the step's id; or says on the page why there is
# nothing to see, and returns None.
Look = Callable[[LessonPage, Trace, str], View | None]


@dataclass(frozen=True, kw_only=True)
class Parts(Generic[View]):
    """What the steps of a lesson share.

    Attributes
    ----------
    look
        Draws the sidebar's controls and makes the view of a step.
    toy
        Runs the toy, and says which toy it is.
    toy_steps
        The toy's own steps, before the lesson's.
    toy_page
        The whole page of a toy for which no model runs.
    clicks
        For each chart, the parameters that a click sets, each with the name of the cell's number that it takes.
    refusal
        The reason why a run has no steps to show, in a sentence; "" if it has steps.
    ending
        Draws the page after the last step.
    """

    look: Look[View]
    toy: Callable[[LessonPage], Trace] = toy_trace
    toy_steps: ToySteps = field(default_factory=lambda: TOY_STEPS)
    toy_page: Callable[[LessonPage], None] | None = None
    clicks: Mapping[str, Mapping[Parameter[int], str]] = field(default_factory=dict)
    refusal: Callable[[Trace], str] = lambda trace: ""
    ending: Callable[[LessonPage, Trace], None] = lambda page, trace: None


@dataclass(frozen=True)
class LessonRun:
    """The page of a lesson, and its run: for steps that choose no layer, head or token."""

    page: LessonPage
    trace: Trace


def at_one_head(page: LessonPage, trace: Trace, step: str) -> OneHead:
    """For steps about one head, query and key: until the learner chooses them, they come from the text's example."""
    layer, head = page.head_controls(trace, look_head)
    query, key = with_tokens(trace, (layer, head))
    return OneHead(page, trace, trace.layer(layer), head, query, key)


def at_the_run(page: LessonPage, trace: Trace, step: str) -> LessonRun:
    """For steps that choose no layer, head or token."""
    return LessonRun(page, trace)


def play(
    id: str, parts: Parts[Any], step: Callable[[str], Step[Any]], earlier: Callable[[], Iterable[Question]]
) -> None:
    """Run the page of the lesson ``id``.

    ``step`` finds the function that draws a step by the step's id. ``earlier`` returns the questions of earlier
    lessons that may return at this lesson's end.
    """
    page = open_lesson(id)
    if page.selection[MODE] == TOY and parts.toy_page is not None:
        parts.toy_page(page)
        return
    trace = chosen_run(page, parts.toy)
    for chart, fields in parts.clicks.items():
        take_click(chart, fields)
    if reason := parts.refusal(trace):
        st.info(reason, icon=":material/info:")
        page.finish()
        page.prove(trace)
        return
    proven = _play(page, trace, parts, step, earlier)
    if page.lesson.weights and (proven is not None or not page.brings_its_own_words):
        page.prove(proven or trace)


def chosen_run(page: P, toy: Callable[[P], Trace] = toy_trace) -> Trace:
    """Run the sidebar's sentence through its model, or call ``toy``, which runs and names the sidebar's toy."""
    if page.selection[MODE] != TOY:
        return page.trace()
    trace = toy(page)
    page.here(trace)
    return trace


def _play(
    page: LessonPage,
    trace: Trace,
    parts: Parts[Any],
    step: Callable[[str], Step[Any]],
    earlier: Callable[[], Iterable[Question]],
) -> Trace | None:
    """Draw the chosen step and the way on; return the run that the badge proves, if it is not the run of the page."""
    toys = parts.toy_steps if page.selection[MODE] == TOY else {}
    offered = page.offered(causal=trace.model.config.causal)
    names, more = [*toys, *(step.name for step in offered if not step.aside)], [s.name for s in offered if s.aside]
    chosen, proven = page.step(names, more), None
    if chosen in toys:
        toys[chosen](page)
    else:
        id = next(each.id for each in offered if each.name == chosen)
        if (seen := parts.look(page, trace, id)) is not None:
            proven = step(id)(seen)
            if id == CHECK:
                bring_back(page.lesson.id, earlier())
    if chosen == names[-1]:
        parts.ending(page, trace)
    page.next_step(names, more)
    page.finish()
    return proven


def file_of(step: str, page: str, folder: ModuleType, record: str) -> ModuleType:
    """Import the file that shows a step of a page: it is named after the step's id, in the ``folder`` of the record.

    Raises ValueError, with the gap, for a step without a file, and for a file that shows nothing.
    """
    name = step.replace("-", "_")
    if find_spec(f"{folder.__name__}.{name}") is None:
        raise ValueError(f"{page}: the step {step} has no file {name}.py beside {record}.")
    found = import_module(f"{folder.__name__}.{name}")
    if not callable(getattr(found, "show", None)):
        raise ValueError(f"{page}: {name}.py has no function show(view), which draws the step {step}.")
    return found
