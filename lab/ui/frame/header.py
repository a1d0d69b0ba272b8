"""The top of a page: its place in the course, its title, its question, the words to look up; and the feedback link."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.feedback import WrongAddress, feedback_address, with_link
from lab.course.glossary import GLOSSARY, Term
from lab.course.pages import GLOSSARY_PAGE, Lesson, number, page_path
from lab.course.words import escaped
from lab.ui import parameters, progress_view, selection
from lab.ui.address import absolute
from lab.ui.parameters import STEP


@dataclass(frozen=True)
class Header:
    """The places at the top of a page that are filled after the page's run; ``about`` has the ids of the page's
    lessons.

    ``lesson`` is the id of the page's lesson, "" if the page is not a lesson.
    """

    way: DeltaGenerator
    machine: DeltaGenerator
    badge: DeltaGenerator
    time: DeltaGenerator
    about: tuple[str, ...] = ()
    lesson: str = ""


def draw_header(title: str, question: str, about: tuple[str, ...] = (), lesson: Lesson | None = None) -> Header:
    """Draw the strip, and below it one line: title, question, time, the proof's badge, objectives and words."""
    teach = bool(parameters.TEACH.chosen())
    way = st.empty()
    with st.container(key="page_header", horizontal=True, vertical_alignment="center", gap="small"):
        st.title(title, width="content")
        if not teach:
            with st.container(key="page_question", width="content"):
                st.markdown(question)
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
            time = st.empty()
            if lesson is not None and not teach:
                say_time(time, lesson)
                progress_view.checks_badge(lesson)
            badge = st.empty()
            machine = st.empty()
            if lesson is not None:
                _about(lesson)
    return Header(way, machine, badge, time, about, "" if lesson is None else lesson.id)


def _about(lesson: Lesson) -> None:
    """Draw a lesson's objectives and words, behind a button.

    The contents are made when the button is clicked, because few readers open it.
    """
    label = "Objectives and words"
    with (
        st.container(key="about.mark", width="content"),
        st.popover(label, icon=":material/dictionary:", help=label, on_change="rerun") as about,
    ):
        if about.open:
            st.markdown(f"**After lesson {number(lesson)} you can …**")
            st.markdown("\n".join(f"- {objective}" for objective in lesson.objectives))
            st.markdown("**The words of this lesson**")
            show_terms([term for term in GLOSSARY if term.lesson == lesson.id])
            st.page_link(page_path(GLOSSARY_PAGE), label="All words", icon=":material/arrow_forward:")


def say_time(where: DeltaGenerator, lesson: Lesson, step: str = "") -> None:
    """Write how many minutes the ``step`` on screen takes, and its lesson; an optional step has no time of its own."""
    minutes = next((each.minutes for each in lesson.steps if each.name == step), None)
    own = "" if minutes is None else f"This step: {minutes} min · "
    where.caption(f"{own}lesson: {lesson.minutes} min", width="content")


def show_terms(terms: Sequence[Term]) -> None:
    """List these words with their meanings."""
    st.markdown("\n\n".join(map(_meaning, terms)))


def _meaning(term: Term) -> str:
    formula, paper = f" ${term.formula}$" * bool(term.formula), f" ({term.paper})" * bool(term.paper)
    called = f" Also called {' or '.join(map(escaped, term.called))}." * bool(term.called)
    return f"**{escaped(term.name)}**{formula}  \n{term.meaning}{paper}{called}"


_LOG = logging.getLogger("lab.feedback")


def show_feedback(step: str = "") -> None:
    """Draw the link, filled with the address of the view on screen; draw nothing if the operator set no address.

    ``step`` is the name of the lesson's step on screen.
    """
    if address := _address():
        link = with_link(address, absolute(selection.link() | ({STEP.name: step} if step else {})))
        st.link_button("Feedback on this page", link, icon=":material/rate_review:", type="tertiary")


@cache
def _address() -> str:
    """The operator's address; "" for a wrong one, which the log names once."""
    try:
        return feedback_address()
    except WrongAddress as wrong:
        _LOG.warning("%s", wrong)
        return ""
