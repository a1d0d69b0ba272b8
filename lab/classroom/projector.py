"""The room on the projector: the way in, the question, the number of answers, and the result once it is revealed."""

from __future__ import annotations

import streamlit as st

from lab.classroom import door, question_view
from lab.rooms.seen import Seen, State
from lab.rooms.server import server
from lab.rooms.states import ROUND, Phase

_SAYS = {
    Phase.CLOSED: "The round is closed.",
    Phase.DISCUSS: "Find somebody who gave another answer, and try to convince each other.",
}


def show(code: str) -> Seen:
    """Draw the part of the room that everybody may see. Raises RoomError, Unreachable."""
    seen = server().rooms.seen(code)
    phase = seen.state.phase
    question = seen.third if phase in (Phase.THIRD, Phase.THIRD_REVEALED) else seen.question
    if question is None:
        door.show_way_in(code, 360)
        return seen
    question_view.ask(question)
    if not question.is_open:
        question_view.rounds(seen.rounds, seen, "room.wall")
        question_view.explain(question)
    else:
        question_view.list_options(question)
        if phase in _SAYS:
            st.info(_SAYS[phase], icon=":material/forum:")
    return seen


def count(state: State) -> None:
    """Draw the number of people in the room, and the number of answers."""
    if state.phase in ROUND:
        st.header(f"{state.answers} of {state.people} have answered", anchor=False)
        st.caption(f"Room {door.spaced(state.code)}")
    else:
        people = "nobody yet" if not state.people else "1 person" if state.people == 1 else f"{state.people} people"
        st.caption(f"Room {door.spaced(state.code)}: {people}")
