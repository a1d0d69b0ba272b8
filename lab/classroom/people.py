"""The teacher's controls for people: the door, removing people, deleting the answers of a round."""

from __future__ import annotations

import time

import streamlit as st

from lab.rooms.seen import State
from lab.rooms.server import server
from lab.rooms.states import ROUND
from lab.ui.room.teacher_steps import SAID, change

_LATE = "_room_late"
_MINUTES = (1, 2, 5, 10, 30)


def show(code: str, key: str, state: State) -> None:
    """Draw the controls, behind a button that opens them."""
    with st.popover("People", icon=":material/groups:"):
        label, icon = (
            ("Close the door", ":material/door_front:")
            if state.door.is_open
            else ("Open the door", ":material/meeting_room:")
        )
        st.markdown(
            "While the door is closed, nobody can join the room. People who are in the room can leave and come back."
        )
        st.button(label, icon=icon, on_click=_set_door, args=(code, key, not state.door.is_open))
        st.divider()
        st.markdown("Remove everybody who joined lately, together with their answers. This closes the door.")
        minutes = st.selectbox("Who came in within", _MINUTES, key=_LATE, format_func=_within)
        st.button("Take them out", icon=":material/logout:", on_click=_remove, args=(code, key, minutes))
        if state.phase in ROUND:
            st.divider()
            st.markdown("Delete all answers of the open round. Then everybody can answer again.")
            turn = ROUND[state.phase]
            st.button("Empty the round", icon=":material/refresh:", on_click=_empty, args=(code, key, state, turn))


def warn(state: State) -> None:
    """Say if people come in unusually fast, or if nobody can come in."""
    if not state.door.is_open:
        st.info("The door is closed: nobody can join the room.", icon=":material/door_front:")
    elif state.is_crowded:
        st.warning(
            f"People are joining unusually fast: {state.lately} in the last minute. If the room has more people than "
            "your class, close the door (**People**).",
            icon=":material/groups:",
        )


def _within(minutes: int) -> str:
    return "the last minute" if minutes == 1 else f"the last {minutes} minutes"


def _set_door(code: str, key: str, is_open: bool) -> None:
    change(lambda: server().rooms.set_door(code, key, is_open=is_open))


def _remove(code: str, key: str, minutes: int) -> None:
    def remove() -> None:
        gone = server().rooms.remove(code, key, time.time() - 60 * minutes)
        who = "1 person was" if gone == 1 else f"{gone} people were"
        st.session_state[SAID] = f"{who} removed from the room, and the door is now closed."

    change(remove)


def _empty(code: str, key: str, state: State, turn: int) -> None:
    change(lambda: server().rooms.empty(code, key, state.number, turn))
