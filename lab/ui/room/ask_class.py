"""Put a lesson's question to the class, or into the series that a teacher prepares; the lesson stays on screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from lab.charts.base.figure import Figure
from lab.figures.attention import place
from lab.questions.question import Question
from lab.ui import address, parameters, selection
from lab.ui.quiz.question_on_screen import about
from lab.ui.room.here import code_here
from lab.ui.room.seat import key_of, told

# The questions that the page offers to the class, by their texts, each with its figure; the bar takes them over.
OFFERED = "_room_offered"


def offer(
    lesson: str,
    question: Question,
    key: str,
    figure: Figure | None,
    of: str = "",
    link: Mapping[str, str] | None = None,
) -> None:
    """Draw, for the teacher of a room, the buttons that ask the class; for others, the button that opens a room.

    The class sees ``figure``. ``of`` names the layer and head that the question is about, and ``link`` leads to it, by
    default to what is on screen; unless the question itself says what it is about.
    """
    code = code_here()
    if not key_of(code):
        if not code or told(code) is not None:
            st.button("Open a room", key=f"{key}.open", icon=":material/groups:", on_click=_open)
        return
    shown = dict(selection.link() if link is None else link)
    if not of and {"layer", "head"} <= address.shown().keys():
        of = place(parameters.LAYER.chosen() - 1, parameters.HEAD.chosen() - 1)
    shown_at = shown | {parameters.STEP.name: parameters.STEP.chosen()}
    # A written question says itself what it is about, whatever is on screen.
    says = "" if question.always else question.about or about(shown, of)
    asked = replace(question, lesson=lesson, about=says, link=shown_at)
    st.session_state.setdefault(OFFERED, {})[asked.prompt] = (asked, figure)
    label, icon = "Ask the class", ":material/groups:"
    st.button(label, key=f"{key}.class.ask", icon=icon, on_click=ask, args=(code, asked, figure))
    st.button(
        "Keep for later",
        key=f"{key}.class.keep",
        icon=":material/playlist_add:",
        type="tertiary",
        help="Add this question to the series of this room",
        on_click=_keep,
        args=(code, asked),
    )


def reveal() -> str:
    """The label of a button that shows an answer on the page: in a room, the class sees nothing of it."""
    return "Reveal here" if key_of(code_here()) else "Reveal"


def _open() -> None:
    """Open a room without leaving the page."""
    from lab.ui.room.teacher_steps import open_room

    open_room()


def ask(code: str, asked: Question, figure: Figure | None) -> None:
    """Put a question to the class with a picture of the figure, or keep a sentence that says why not."""
    from lab.ui.room.picture import picture
    from lab.ui.room.teacher_steps import change, put

    change(lambda: put(code, replace(asked, picture=picture(figure))))


def _keep(code: str, asked: Question) -> None:
    """Add the question to the series: its page, and what it is about."""
    from lab.rooms.series import PreparedQuestion, said_of
    from lab.ui.room.teacher_steps import add

    step = asked.link.get(parameters.STEP.name, "")
    add(code, [PreparedQuestion(asked.lesson, step, dict(asked.link), said_of(asked))])
