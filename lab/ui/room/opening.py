"""A new room, opened from any page; the visit becomes its teacher's."""

from __future__ import annotations

import streamlit as st

from lab.rooms.database import Unreachable
from lab.rooms.rooms import RoomError
from lab.rooms.server import server
from lab.ui import parameters
from lab.ui.room.seat import address_hash, keep_key
from lab.ui.room.teacher_steps import SAID


def open_room() -> None:
    """Open a room and keep its key, or keep a sentence that says why there is none."""
    try:
        code, key = server().create(address_hash())
    except Unreachable:
        st.session_state[SAID] = "The database for rooms does not respond. Try again in a moment."
    except RoomError as refused:
        st.session_state[SAID] = str(refused)
    else:
        keep_key(code, key)
        parameters.ROOM.set(code)
        parameters.TEACH.set(1)
