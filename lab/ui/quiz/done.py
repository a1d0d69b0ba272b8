"""The steps that a learner has done: a question was answered or shown, a figure was used, or the learner went on.

A step that somebody only opened is not done. What is done with a toy or before a class does not count.
"""

from __future__ import annotations

import streamlit as st

from lab.course.pages import LESSONS, Lesson
from lab.ui import selection
from lab.ui.parameters import MODE, STEP, TEACH, TOY, WAY
from lab.ui.quiz.question_on_screen import progress, remember

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
