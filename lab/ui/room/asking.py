"""Put a lesson's question to the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from lab.course.pages import ROOM_PAGE, page_of, page_path
from lab.figures.attention import place
from lab.questions.forms import Kind
from lab.questions.question import Question
from lab.rooms.states import NEXT, Phase
from lab.ui import address, parameters, selection
from lab.ui.quiz.on_screen import about
from lab.ui.room.here import code_here
from lab.ui.room.seat import key_of, told

_LABELS = {Kind.CHOICE: "Ask the class", Kind.NUMBER: "Ask for the number", Kind.PLACE: "Ask the class to pick"}
_ICONS = {Kind.CHOICE: ":material/groups:", Kind.NUMBER: ":material/123:", Kind.PLACE: ":material/ads_click:"}


def offer(lesson: str, question: Question, key: str, link: Mapping[str, str] | None = None, of: str = "") -> None:
    """Draw, for the teacher of a room, the buttons that ask the class; for others, a link to opening a room.

    ``link`` and ``of`` mean the same as in a check.
    """
    code = code_here()
    if not key_of(code):
        if code and told(code) is None:
            return
        st.page_link(page_path(ROOM_PAGE), label="Open a room", icon=":material/groups:")
        return
    pressed = [
        kind for kind in question.kinds if st.button(_LABELS[kind], key=f"{key}.class.{kind.value}", icon=_ICONS[kind])
    ]
    if not pressed:
        return
    from lab.rooms.database import Unreachable
    from lab.rooms.rooms import RoomError

    shown = dict(selection.link() if link is None else link)
    if not of and {"layer", "head"} <= address.shown().keys():
        of = place(parameters.LAYER.chosen() - 1, parameters.HEAD.chosen() - 1)
    shown_at = shown | {parameters.STEP.name: parameters.STEP.chosen()}
    try:
        asked = replace(question.asked_for(pressed[0]), lesson=lesson, about=about(shown, of), link=shown_at)
        _ask(code, asked)
    except Unreachable:
        st.warning("The room does not respond. Try again in a moment.", icon=":material/cloud_off:")
    except RoomError as refused:
        st.warning(str(refused), icon=":material/info:")
    else:
        selection.open_page(page_of("room"))


def _ask(code: str, asked: Question) -> None:
    """Open the question, whether the room is in the lobby or has just revealed an answer.

    Raises RoomError, Unreachable.
    """
    from lab.rooms.server import server

    rooms, key = server().rooms, key_of(code)
    phase = rooms.taught(code, key).state.phase
    if phase is not Phase.LOBBY and Phase.LOBBY in NEXT[phase]:
        rooms.step(code, key, phase, Phase.LOBBY)
    rooms.ask(code, key, asked)
    server().forget()
