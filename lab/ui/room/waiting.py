"""The notice that replaces all other pages while a room asks a question, so that no page gives the answer away."""

from __future__ import annotations

import streamlit as st

from lab.course.pages import ROOM_PAGE, page_path
from lab.ui.room.here import PAUSE, code_here, state_here
from lab.ui.room.seat import forget_key, key_of, told


def waits() -> bool:
    """Return whether a notice takes the place of the page, because this visit is in a room that asks a question.

    The notice checks the room by itself, and the page returns when the answer is revealed. The teacher sees every page.
    The notice stays until the browser has reported whether the visit is the teacher's.
    """
    code = code_here()
    if not code or teaches(code):
        return False
    now = _asks()
    st.fragment(_look, run_every=PAUSE)(now)
    if now and told(code) is None:
        st.caption("One moment …")
    elif now:
        st.info(
            "The class is answering a question. This page comes back when the answer is shown.",
            icon=":material/groups:",
        )
        st.page_link(page_path(ROOM_PAGE), label="Go to the room", icon=":material/arrow_forward:")
    return now


def teaches(code: str) -> bool:
    """Return whether this visit has the key of the room ``code``; a key that is made up is dropped."""
    key = key_of(code)
    if not key:
        return False
    from lab.rooms.server import server

    if server().is_teachers(code, key):
        return True
    forget_key(code)
    return False


def _asks() -> bool:
    state = state_here()
    return state is not None and state.asks


def _look(before: bool) -> None:
    if _asks() != before:
        st.rerun()
