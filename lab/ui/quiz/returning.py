"""Questions from earlier lessons, asked again at the end of a later lesson."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from lab.course.pages import lesson_of
from lab.course.words import stopped
from lab.figures.attention import place
from lab.models.trace import Trace
from lab.questions.returning import MOST, Returning, Spot, offered, returning
from lab.ui import parameters
from lab.ui.quiz.asking import ask_one, brought_back, keep, stored
from lab.ui.quiz.on_screen import OnScreen, about
from lab.ui.quiz.question import progress

if TYPE_CHECKING:
    from lab.ui.page import LessonPage


def bring_back(page: LessonPage, earlier: Mapping[str, Returning], trace: Trace) -> None:
    """At the end of a lesson's ``page``, ask one question from each of two ``earlier`` lessons (by id) about ``trace``.

    The questions stay until the learner wants new questions. No questions are asked about a toy, nor of a class, which
    has the lesson's own questions.
    """
    if not parameters.TEACH.chosen() and parameters.MODE.chosen() != parameters.TOY:
        _bring_back(page.lesson.id, earlier, trace)


def _bring_back(lesson: str, earlier: Mapping[str, Returning], trace: Trace) -> None:
    name, spot = f"{lesson}.earlier", Spot.of(trace)
    of = place(spot.layer, spot.head) if any("head" in lesson_of(each).parameters for each in earlier) else ""
    own = trace.text if trace.text != parameters.TEXT.chosen() else ""  # a lesson may show its own text
    kept = stored(name) or brought_back(name, partial(OnScreen.again, offered(earlier, spot), 0, of, {}), own)
    if kept is None or kept.done:
        known = {key for each in (*earlier, name) for key in _seen(each)}
        pool = returning(earlier, spot, lambda question: question.key in known)
        kept = OnScreen.now(pool, MOST, 0, of, {}, kept).about_text(own)
    keep(name, kept)
    if kept.questions:
        st.subheader("From earlier lessons")
        for number, question in enumerate(kept.questions, start=1):
            with st.container(border=True):
                ask_one(lesson, number, question, kept, name, "_earlier")
        asked = stopped(about(kept.link))
        st.caption(f"{asked} A question that names no head is about {kept.of}." if kept.of else asked)


def _seen(name: str) -> tuple[str, ...]:
    """Return the keys of the questions in a list that were on screen so far."""
    shown = progress().shown.get(name)
    return () if shown is None else shown.seen
