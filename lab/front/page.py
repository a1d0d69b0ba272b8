"""The first page: the first minute, the two ways on, the whole machine, the other pages, and advice for a class."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from lab.course.pages import BENCHES, GLOSSARY_PAGE, LESSONS, MODELS_PAGE, ROOM_PAGE, number, page_of, page_path
from lab.course.sentences.examples import FIRST
from lab.course.ways import NAMES, SHORT, WHOLE, way
from lab.course.words import escaped
from lab.front import first_minute, for_a_class
from lab.front.first_minute import FirstMinute
from lab.models.catalogue import card
from lab.ui import progress_view, shell, teaching
from lab.ui.frame.header import show_feedback
from lab.ui.frame.way_buttons import is_done, next_on, open_stage
from lab.ui.parameters import BLANK_TEXT, WAY
from lab.ui.quiz.question_on_screen import progress
from lab.ui.room.here import code_here
from lab.ui.room.seat import key_of
from lab.ui.shared.machine import MachineSetting, show_machine
from lab.ui.texts import keep_texts

QUESTION = "How does a machine know what belongs in the blank?"
WHY = """
The machine is a **transformer**, the T in BERT and in ChatGPT. It was invented for translation (Vaswani et al. 2017);
today it is inside programs that chat, search the web and write code."""
_TAKEN = "_first_taken"  # the sentence that went along to the lessons


def show() -> None:
    """Draw the page."""
    shell.route()
    first = first_minute.show(QUESTION)
    _take_along(first)
    if first.blank is not None and key_of(code_here()):
        for_a_class.show(first.blank.trace, first.blank.place, BLANK_TEXT.chosen())
    _go_on(first)
    _machine(first)
    _lessons()
    _explore()
    progress_view.review()
    progress_view.keep()
    _for_teachers()
    show_feedback()


def _go_on(first: FirstMinute) -> None:
    """Draw the buttons to the first thing that is not done on each of the two ways, and say where the model comes from.

    The way that the learner has chosen comes first.
    """
    names = sorted(NAMES, key=lambda name: name != _own_way())
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ways"):
        for place, name in enumerate(names):
            first_of_all: Literal["primary", "secondary"] = "primary" if place == 0 else "secondary"
            label, icon = _label(name, goes_on=place == 0), ":material/arrow_forward:"
            if st.button(label, key=f"_way.{name}", type=first_of_all, icon=icon):
                WAY.set(name)
                open_stage(next_on(name))
    shipped = card(first.model.id)
    origin = shipped.origin if shipped is not None else ""
    st.caption(f"You see **{escaped(first.model.id)}**. {origin}")


def _own_way() -> str:
    """The way that the learner is on; after a return with only steps of the short way done, and at first, the short."""
    short = {stage.key for stage in way(SHORT)}
    return SHORT if WAY.chosen() == SHORT or set(progress().done) <= short else WHOLE


def _label(name: str, *, goes_on: bool) -> str:
    """The label of the button to a way: its name or, if the learner ``goes_on`` there, the step that is next."""
    stage, begun = next_on(name), any(map(is_done, way(name)))
    if stage is None:
        return f"{NAMES[name]}: done. {page_of('end').title}"
    if not begun or not goes_on:
        return NAMES[name]
    return f"Go on: {stage.step.name} (lesson {number(stage.lesson)})"


def _take_along(first: FirstMinute) -> None:
    """Keep a sentence that the learner typed here, with its blank, for the lessons."""
    typed = BLANK_TEXT.chosen()
    if first.blank is None or any(typed == each.text for each in FIRST) or st.session_state.get(_TAKEN) == typed:
        return
    st.session_state[_TAKEN] = typed
    keep_texts(first.blank.trace.text if first_minute.has_blank(typed) else typed, "")


def _machine(first: FirstMinute) -> None:
    """Draw the whole model at work on the sentence of the first minute; each part leads to its lessons."""
    if first.blank is None:
        return
    st.header("The whole machine")
    st.markdown(WHY)
    st.markdown(
        "The sentence above, with nothing cut off, goes through every part, from its tokens to the word in the blank. "
        "Click the name of a part to read what the part does, or a number above it to open a lesson."
    )
    setting = MachineSetting(watched=first.blank.place, waits=not first.answered)
    st.fragment(show_machine)(first.blank.trace, "machine", setting)


def _lessons() -> None:
    """List the lessons, each with its question: the machine in words."""
    with st.expander("The lessons as a list", icon=":material/list:"), st.container(gap="xsmall", key="lessons"):
        for lesson in LESSONS:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                label = f"**{number(lesson)} · {lesson.title}**  {lesson.question}"
                about = f"{lesson.minutes} minutes"
                st.page_link(page_path(lesson.page), label=label, icon=lesson.icon, help=about, width="content")
                progress_view.progress_badge(lesson)


def _explore() -> None:
    st.header("Explore")
    st.markdown("Benches show the same runs as the lessons. They have every control and no questions.")
    with st.container(horizontal=True):
        for bench in BENCHES:
            st.page_link(page_path(bench.page), label=bench.title, icon=bench.icon, help=bench.question)
        st.page_link(page_path(MODELS_PAGE), label="Models", icon=":material/badge:")
        st.page_link(page_path(GLOSSARY_PAGE), label="Glossary", icon=":material/dictionary:")


def _for_teachers() -> None:
    st.header("For a class", anchor="for-teachers")
    st.markdown(
        "- **Before a class.** Click Teach, or add `?teach=1` to the address of a page. The text becomes larger, "
        "answers wait for a click on Reveal, and nothing is scored.\n- **The same questions for everybody.** Add "
        "`?seed=7`, or "
        "another number, to the address. Everybody who opens this address gets the same checks, with the answers in "
        "the same order.\n- **A task.** The address of a page contains the sentence, the model, the step, the head "
        "and the cuts. Choose them, and then copy the address.\n- **The class answers together.** Open a room. All "
        "learners see a figure and answer a question about it alone, discuss it, and answer it again; or they teach a "
        "model. A room has plans for 45 and 90 minutes.\n- **A course system.** With `?teach=1`, the check of each "
        "lesson is also a file for Moodle (XML, GIFT)."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Teach", icon=":material/co_present:", on_click=teaching.turn, args=(1,))
        st.page_link(page_path(ROOM_PAGE), label="Open a room", icon=":material/groups:")
