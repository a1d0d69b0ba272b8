"""The rooms of this server, and the room that the visit is in.

The modules for rooms are imported only for visits in a room: they take 25 MB, and most servers have no room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from lab.rooms.codes import read_code
from lab.ui import parameters
from lab.ui.visitor import this_visitor

if TYPE_CHECKING:
    from lab.rooms.seen import State

_TRIED, _MOST_TRIED = "_room_tried", 100
PAUSE = 2.0  # seconds between two looks at a room
AWAY = "The room does not respond. The page tries again by itself."


def code_here() -> str:
    """Return the code of the room that this visit is in; empty if the visit is in no room, or the link has no code."""
    return read_code(parameters.ROOM.chosen()) or ""


def state_here() -> State | None:
    """Return the state of this visit's room; None if the visit is in no room, or the database cannot be reached."""
    code = code_here()
    if not code:
        return None
    from lab.rooms.database import Unreachable
    from lab.rooms.rooms import NoSuchRoom, TooManyGuesses
    from lab.rooms.server import server

    tried = st.session_state.setdefault(_TRIED, set())
    try:
        # A code that leads nowhere counts as a guess, once: whoever keeps yesterday's link looks at many pages.
        return server().state(code) if code in tried else server().find(code, this_visitor())
    except TooManyGuesses:
        return None
    except NoSuchRoom:
        if len(tried) < _MOST_TRIED:
            tried.add(code)
        return None
    except Unreachable:
        return None
