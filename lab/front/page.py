"""The first page: the first minute, the way on, the nine lessons, the other pages, and advice for a class."""

from __future__ import annotations

import streamlit as st

from lab.course.pages import BENCHES, GLOSSARY_PAGE, LESSONS, MODELS_PAGE, ROOM_PAGE, Lesson, number, page_path
from lab.course.words import escaped
from lab.front import first_minute
from lab.models.catalogue import card
from lab.models.loading import LoadedModel
from lab.ui import progress_view, selection, shell, teaching
from lab.ui.quiz.question import progress

QUESTION = "How does a machine know what belongs in the blank?"


def show() -> None:
    """Draw the page."""
    shell.route()
    _go_on(first_minute.show(QUESTION))
    _lessons()
    _explore()
    progress_view.review()
    progress_view.keep()
    _for_teachers()


def _go_on(model: LoadedModel) -> None:
    """Draw the button to the lesson with which the learner should go on, and say where ``model`` comes from."""
    lesson = where_to_go_on()
    begun = any(progress().count(each.id).seen for each in LESSONS)
    label = f"Go on with lesson {number(lesson)}: {lesson.title}" if begun else "Start with lesson 1"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if st.button(label, type="primary", icon=":material/arrow_forward:"):
            selection.open_page(lesson)
        shipped = card(model.id)
        origin = shipped.origin if shipped is not None else ""
        st.caption(f"You see **{escaped(model.id)}**. {origin}", width="stretch")


def where_to_go_on() -> Lesson:
    """The first lesson with an unseen step, after the last lesson that was begun; the last lesson if all are seen."""
    begun = [lesson for lesson in LESSONS if progress().count(lesson.id).seen]
    if not begun:
        return LESSONS[0]
    last = progress().count(begun[-1].id)
    place = LESSONS.index(begun[-1]) + (last.seen >= last.steps)
    return LESSONS[min(place, len(LESSONS) - 1)]


def _lessons() -> None:
    """Draw the nine lessons, each with its question."""
    st.header("Nine lessons")
    with st.container(gap="xsmall", key="lessons"):
        for lesson in LESSONS:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                label = f"**{number(lesson)} · {lesson.title}**  {lesson.question}"
                about = f"{lesson.minutes} minutes"
                st.page_link(page_path(lesson.page), label=label, icon=lesson.icon, help=about, width="content")
                progress_view.progress_badge(lesson)


def _explore() -> None:
    st.header("Explore")
    st.markdown("Benches show the same runs as the lessons, with every control and without questions.")
    with st.container(horizontal=True):
        for bench in BENCHES:
            st.page_link(page_path(bench.page), label=bench.title, icon=bench.icon, help=bench.question)
        st.page_link(page_path(MODELS_PAGE), label="Models", icon=":material/badge:")
        st.page_link(page_path(GLOSSARY_PAGE), label="Glossary", icon=":material/dictionary:")


def _for_teachers() -> None:
    st.header("For a class", anchor="for-teachers")
    st.markdown(
        "- **Before a class.** Click Teach, or add `?teach=1` to the address of a page. The text is larger, answers "
        "wait for a click on Reveal, and nothing is scored.\n- **The same questions for everybody.** Add `?seed=7`, or "
        "another number, to the address. Everybody who opens this address gets the same checks, with the answers in "
        "the same order.\n- **A task.** Sentence, model, step, head and cuts are part of the address. Choose them, "
        "then copy the address.\n- **The class answers together.** Open a room. Everybody answers a question of a "
        "lesson alone, discusses it, answers it again, and then answers a similar question about another sentence."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Teach", icon=":material/co_present:", on_click=teaching.turn, args=(1,))
        st.page_link(page_path(ROOM_PAGE), label="Open a room", icon=":material/groups:")
