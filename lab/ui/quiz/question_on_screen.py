"""The parts of a question on the screen, how its subject is named, and the steps that a learner has done.

A step that somebody only opened is not done. What is done with a toy or before a class does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from lab.charts.base.figure import Figure
from lab.course.pages import LESSONS, Lesson
from lab.course.words import quoted
from lab.questions.progress import LearnerProgress
from lab.questions.question import Question, lettered
from lab.ui import parameters, selection
from lab.ui.parameters import MODE, STEP, TEACH, TOY, WAY

_PROGRESS = "progress"
# The button that takes an answer before its figure or its result is shown.
COMMIT = "Commit and show"


def progress() -> LearnerProgress:
    """This session's progress."""
    stored = st.session_state.get(_PROGRESS)
    return stored if isinstance(stored, LearnerProgress) else LearnerProgress()


def remember(now: LearnerProgress) -> None:
    """Make ``now`` this session's progress."""
    st.session_state[_PROGRESS] = now


def choose(question: Question, **given: Any) -> int | None:
    """Draw the options with their letters, as a choice; ``given`` are arguments of ``st.radio``."""
    places = range(len(question.options))
    named = partial(lettered, question)
    return st.radio(question.prompt, places, index=None, label_visibility="collapsed", format_func=named, **given)


def list_options(question: Question) -> None:
    """List the options for a class, one per line, so that the class can vote by letter."""
    st.markdown("  \n".join(lettered(question, i) for i in range(len(question.options))))


def explain_each(question: Question) -> None:
    """Explain why each option is right or wrong."""
    st.markdown("\n".join(f"- {lettered(question, i)}: {each.why}" for i, each in enumerate(question.options)))


@dataclass(frozen=True)
class OnScreen:
    """Questions at the end of a lesson, and the figures that a class sees beside them, by the question's id.

    ``of`` names the layer and head that the questions about a run are about.
    """

    questions: tuple[Question, ...]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    of: str = ""


_SHOWN = 120  # characters of a text that a caption names


def about(link: Mapping[str, str], of: str = "", says: str = "Asked about") -> str:
    """Name the texts of a check, for its caption; a link without a sentence means the sentence of a new visit."""
    if link.get(parameters.MODE.name) == parameters.TOY:
        asked = f"{says} a toy"
    else:
        texts = [link.get(each.name, each.default) for each in (parameters.TEXT, parameters.PAIR)]
        shown = [text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in texts if text]
        asked = f"{says} {' and '.join(map(quoted, shown))}"
    return f"{asked}, {of}" if of else asked


# The step that was opened last, and the choices then; whether the step on screen waits for an answer.
_OPENED, _WAITS = "_step_opened", "_step_waits"


def step_on_screen(lesson: str) -> str:
    """The id of the lesson's step on screen; a step that only a toy has is named as on screen.

    Questions about how a toy is trained belong to no lesson: their ``lesson`` is "toy".
    """
    chosen = STEP.chosen()
    steps = (step for each in LESSONS if each.id == lesson for step in each.steps)
    return next((step.id for step in steps if step.name == chosen), chosen)


def did(lesson: str) -> None:
    """Note that the step on screen is done."""
    if MODE.chosen() != TOY and not TEACH.chosen():
        remember(progress().did(lesson, step_on_screen(lesson)))


def begin_step() -> None:
    """Note that a step begins to be drawn."""
    st.session_state[_WAITS] = False


def awaits_answer() -> None:
    """Note that the step on screen shows its figure only after an answer."""
    st.session_state[_WAITS] = True


def went_on(lesson: str) -> None:
    """Note that the learner went on from the step on screen: it is done unless its question still waits."""
    if not st.session_state.get(_WAITS):
        did(lesson)


def look_for_use(lesson: Lesson) -> None:
    """Note that the step on screen is done if a choice on its page differs from when the step was opened.

    A click in a figure is a choice, too; the choice of a way is none. While a question waits, there is no figure to
    use. Between a toy and a sentence, or a class and no class, the step begins again. Call this function when the whole
    page is drawn.
    """
    chosen = {name: value for name, value in selection.link(lesson).items() if name not in (STEP.name, WAY.name)}
    where = lesson.id, step_on_screen(lesson.id), MODE.chosen(), TEACH.chosen()
    opened = st.session_state.get(_OPENED)
    if opened is None or opened[0] != where:
        st.session_state[_OPENED] = where, chosen
    elif opened[1] != chosen and not st.session_state.get(_WAITS):
        did(lesson.id)


def leave_page() -> None:
    """Forget the step that was opened last: another page begins."""
    st.session_state.pop(_OPENED, None)
