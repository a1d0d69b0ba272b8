"""A question of a lesson, put to the class."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from lab.course.checks import Question
from lab.course.lessons import ROOM_PAGE, script
from lab.figures.attention import place
from lab.rooms.database import Unreachable
from lab.rooms.questions import Posed, PosedOption
from lab.rooms.rooms import RoomError
from lab.rooms.states import NEXT, Phase
from lab.ui import parameters, selection
from lab.ui.quiz.asked import about
from lab.ui.room.here import code_here, server
from lab.ui.room.seat import key_of


def posed(lesson: str, question: Question, of: str, link: Mapping[str, str]) -> Posed:
    """A question of a lesson as a room keeps it; ``of`` says what it is about, ``link`` shows its answer."""
    options = tuple(PosedOption(each.text, each.why, each.correct) for each in question.options)
    return Posed(lesson, question.id, question.prompt, options, of, dict(link))


def offer(lesson: str, question: Question, key: str, link: Mapping[str, str] | None = None, of: str = "") -> None:
    """The button that asks the class, for the teacher of a room; the way to one for a teacher who has none.

    ``link`` and ``of`` as a check has them.
    """
    code = code_here()
    if not key_of(code):
        st.page_link(script(ROOM_PAGE), label="Open a room", icon=":material/groups:")
        return
    if not st.button("Ask the class", key=f"{key}.class", icon=":material/groups:"):
        return
    shown = dict(selection.link() if link is None else link)
    if not of and {"layer", "head"} <= selection.shown().keys():
        of = place(parameters.LAYER.chosen() - 1, parameters.HEAD.chosen() - 1)
    asked = posed(lesson, question, about(shown, of), shown | {parameters.STEP.name: parameters.STEP.chosen()})
    try:
        _ask(code, asked)
    except Unreachable:
        st.warning("The room does not answer. Try again in a moment.", icon=":material/cloud_off:")
    except RoomError as refused:
        st.warning(str(refused), icon=":material/info:")
    else:
        st.switch_page(script(ROOM_PAGE), query_params=selection.elsewhere())


def _ask(code: str, asked: Posed) -> None:
    """Open the question, from the lobby or after a reveal."""
    rooms, key = server().rooms, key_of(code)
    phase = rooms.taught(code, key).state.phase
    if phase is not Phase.LOBBY and Phase.LOBBY in NEXT[phase]:
        rooms.step(code, key, phase, Phase.LOBBY)
    rooms.ask(code, key, asked)
    server().forget()
