"""The room on the wall: the way in, the question with its picture, the number of answers, and the result afterwards."""

from __future__ import annotations

import time
from html import escape

import streamlit as st

from lab.classroom import entrance
from lab.course.words import stopped
from lab.figures.room import options_of
from lab.questions.question import Question, lettered
from lab.rooms.questions import TEACHES
from lab.rooms.seen import Seen, State
from lab.rooms.server import server
from lab.rooms.states import ROUND, Phase
from lab.ui.room import room_question
from lab.ui.room.bar import clock
from lab.ui.room.picture import show_picture
from lab.ui.room.room_question import style

_NAMES = {
    Phase.OPEN: "Round 1: everybody alone",
    Phase.CLOSED: "Round 1 is closed",
    Phase.DISCUSS: "Discuss",
    Phase.OPEN_AGAIN: "Round 2: after the discussion",
    Phase.CLOSED_AGAIN: "Round 2 is closed",
    Phase.REVEALED: "The answer",
}
_SAYS = {
    Phase.DISCUSS: "Find somebody who gave another answer, and try to convince each other.",
}
_TAUGHT = {
    Phase.OPEN: "The class teaches: everybody writes",
    Phase.CLOSED: "The class teaches: writing is over",
    Phase.REVEALED: "What the model has learned",
}


def show(code: str) -> Seen:
    """Draw the part of the room that everybody may see. Raises RoomError, Unreachable."""
    seen = server().rooms.seen(code)
    style()
    style("wall")
    with st.container(key="wall"):
        if seen.question is None:
            entrance.show_way_in_large(code)
        else:
            _show_question(seen, seen.question)
    return seen


def _show_question(seen: Seen, question: Question) -> None:
    """Draw the question with its picture and its options; once it is revealed, its result takes the place of both."""
    code, names = seen.state.code, _TAUGHT if question.id == TEACHES else _NAMES
    with st.container(key="wall_top", horizontal=True, vertical_alignment="top"):
        st.html(f'<p class="wall-round">{escape(names.get(seen.state.phase, ""))}</p>')
        entrance.show_code(code)
    if question.id == TEACHES:
        _show_taught(question)
        return
    beside = question.is_open and question.picture is not None
    with st.container(key="wall_question_picture" if beside else "wall_question"):
        st.markdown(f"**{question.prompt}**")
        if question.is_open:
            if question.picture is None and question.about:
                st.markdown(stopped(question.about))
            show_picture(question.picture)
            _show_options(question)
        else:
            room_question.rounds(seen.rounds, question, shares=False)
    if not question.is_open:
        # Bars name the right answer by themselves.
        named = f"{lettered(question, question.answer)}. " if all(each.withheld for each in seen.rounds) else ""
        st.markdown(f":material/check: {named}{question.options[question.answer].why}")
    elif told := _SAYS.get(seen.state.phase):
        st.markdown(told)


def _show_taught(question: Question) -> None:
    """Draw what the class is asked to write, and then how well the model has learned it."""
    beside = question.picture is not None
    with st.container(key="wall_question_picture" if beside else "wall_question"):
        st.markdown(f"**{question.prompt}**")
        show_picture(question.picture)
        if question.about:
            st.markdown(question.about)


def _show_options(question: Question) -> None:
    rows = "".join(f"<li><bdi>{escape(each)}</bdi></li>" for each in options_of(question))
    st.html(f'<ul class="wall-options">{rows}</ul>')


def count(state: State) -> None:
    """Draw the number of answers with the clock, or the number of people in the room."""
    if state.phase in ROUND:
        given = f"{state.answers} of {state.people} have answered{clock(state.left(time.time()))}"
        said = f"Answer on your phone. {given}."
    elif state.phase is Phase.DISCUSS and (left := state.left(time.time())) is not None:
        said = f"Discuss{clock(left)}."
    elif state.phase is Phase.LOBBY:
        said = "Nobody is in yet." if not state.people else f"{_people(state.people)} in the room."
    else:
        said = ""
    if said:
        st.html(f'<p class="wall-count">{escape(said)}</p>')


def _people(count: int) -> str:
    return "1 person is" if count == 1 else f"{count} people are"
