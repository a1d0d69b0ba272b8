"""The way into a room: its code, link and QR code, a line for typing the code, and a button that opens a room."""

from __future__ import annotations

from io import BytesIO

import segno
import streamlit as st

from lab.rooms.codes import read_code
from lab.rooms.database import Unreachable
from lab.rooms.rooms import RoomError
from lab.rooms.server import server
from lab.ui import parameters
from lab.ui.address import absolute
from lab.ui.room.seat import address_hash, keep_key

_SAID, _TYPED = "_room_door", "_room_code"


def spaced(code: str) -> str:
    """Write a code with spaces, so that it can be read aloud."""
    return f"{code[:3]} {code[3:]}"


def address(code: str) -> str:
    """The link that a class opens; its address is the one that this visit used."""
    return absolute({parameters.ROOM.name: code}) or f"/Room?{parameters.ROOM.name}={code}"


def show_way_in(code: str, width: int) -> None:
    """Draw code, link and QR code."""
    link, drawing = address(code), BytesIO()
    segno.make(link, micro=False).save(drawing, kind="svg", xmldecl=False, scale=8, light="#fff")
    left, right = st.columns([1, 2], vertical_alignment="center", gap="large")
    left.image(drawing.getvalue().decode(), width=width, alt=f"QR code of {link}")
    with right:
        st.markdown("Scan the picture, open the link, or type the code on the page **Room** of the lab.")
        st.code(link, language=None, wrap_lines=True)


def show() -> None:
    """Draw the page of a visit that is in no room."""
    st.markdown(
        "**A class answers together.** Everybody answers alone, the class discusses, and everybody answers again."
    )
    said = st.session_state.pop(_SAID, "")
    if said:
        st.warning(said, icon=":material/info:")
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Join", anchor=False)
        st.text_input("The code on the wall", key=_TYPED, max_chars=9, placeholder="K7W 2QD", on_change=_join)
        st.button("Join", on_click=_join, icon=":material/login:")
        st.caption(
            "You need no name and no account. Your answers are counted, and they are deleted with the room "
            "within a day."
        )
    with right:
        st.header("Teach", anchor=False)
        st.markdown("You get a code for the class. Then you can ask any question of a lesson with one click.")
        st.button("Open a room", on_click=_open, icon=":material/groups:")


def _join() -> None:
    code = read_code(st.session_state.get(_TYPED) or "")
    if code is None:
        st.session_state[_SAID] = "A code has six letters and digits, such as K7W 2QD."
        return
    parameters.ROOM.set(code)


def _open() -> None:
    try:
        code, key = server().create(address_hash())
    except Unreachable:
        st.session_state[_SAID] = "The database for rooms does not respond. Try again in a moment."
    except RoomError as refused:
        st.session_state[_SAID] = str(refused)
    else:
        keep_key(code, key)
        parameters.ROOM.set(code)


def leave(said: str = "") -> None:
    """Go back to the door, and show a sentence there."""
    parameters.ROOM.set("")
    parameters.PROJECTOR.set(0)
    parameters.SUMMARY.set(0)
    st.session_state[_SAID] = said
