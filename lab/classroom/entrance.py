"""The way into a room: its code, link and QR code, a line for typing the code, and the rooms of this browser."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO
from urllib.parse import urlencode

import segno
import streamlit as st

from lab.rooms.codes import read_code, spaced
from lab.rooms.counts import FEWEST
from lab.rooms.database import Unreachable
from lab.rooms.rooms import NoSuchRoom
from lab.rooms.server import server
from lab.ui import parameters
from lab.ui.address import absolute, dropped, is_only_here
from lab.ui.room.seat import keep_key, rooms_kept
from lab.ui.room.teacher_steps import open_room, show_said

_SAID, _TYPED = "_room_door", "_room_code"
_LONGEST_KEY = 100
KEY = "key"  # the parameter of a second teacher's link


def address(code: str) -> str:
    """The link that a class opens; its address is the one that this visit used."""
    return _address({parameters.ROOM.name: code})


def teachers_address(code: str, key: str) -> str:
    """The link for a second teacher: whoever opens it teaches the room."""
    return _address({parameters.ROOM.name: code, KEY: key})


def _address(link: dict[str, str]) -> str:
    return absolute(link) or f"/Room?{urlencode(link)}"


def take_key(code: str) -> None:
    """Take the key of a second teacher's link, if it is right, and drop it from the address."""
    key = dropped(KEY)
    if key is not None and len(key) < _LONGEST_KEY and server().is_teachers(code, key):
        _back(code, key)


def _qr(link: str) -> str:
    drawing = BytesIO()
    segno.make(link, micro=False).save(drawing, kind="svg", xmldecl=False, scale=8, light="#fff", omitsize=True)
    return drawing.getvalue().decode()


def show_way_in(code: str) -> None:
    """Draw code, link and QR code for the teacher."""
    link = address(code)
    left, right = st.columns([1, 2], vertical_alignment="center", gap="large")
    left.image(_qr(link), width=220, alt=f"QR code of {link}")
    with right:
        st.markdown("Scan the picture, open the link, or type the code on the page **Room** of the lab.")
        st.code(link, language=None, wrap_lines=True)
        if is_only_here(link):
            st.warning(
                "Only this computer can open this link. For a class, start the lab with `inside-bert --address "
                "0.0.0.0`. Then open it by this computer’s address in the network, which the lab names when it starts "
                "(“Network URL”), and open the room there.",
                icon=":material/wifi_off:",
            )


def show_way_in_large(code: str) -> None:
    """Draw code, link and QR code for the wall, as large as the wall allows."""
    link = address(code)
    where = escape(link.partition("?")[0].partition("://")[2] or link)
    st.html(
        f'<div class="wall-door"><div class="wall-qr" role="img" aria-label="QR code of {escape(link, quote=True)}">'
        f'{_picture(link)}</div><div><p class="wall-code">{spaced(code)}</p>'
        f"<p>Scan the picture with your phone, or open <b>{where}</b> and type the code.</p></div></div>"
    )


def show_code(code: str) -> None:
    """Draw the code and the QR code in a corner of the wall, for those who come late."""
    link = address(code)
    st.html(
        f'<div class="wall-corner"><span>{spaced(code)}</span><div class="wall-qr" role="img" '
        f'aria-label="QR code of {escape(link, quote=True)}">{_picture(link)}</div></div>'
    )


def _picture(link: str) -> str:
    return f'<img alt="" src="data:image/svg+xml;base64,{b64encode(_qr(link).encode()).decode()}">'


def show() -> None:
    """Draw the page of a visit that is in no room."""
    st.markdown(
        "**A class answers together.** Everybody answers alone, the class discusses, and everybody answers again."
    )
    said = st.session_state.pop(_SAID, "")
    if said:
        st.warning(said, icon=":material/info:")
    show_said()
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
        st.markdown(
            "You get a code for the class. Then you can ask any question of a lesson with one click, and the class "
            "sees its figure."
        )
        st.button("Open a room", on_click=open_room, icon=":material/groups:")
        st.caption(
            "To try it alone, open a room, and answer on a phone or in a private window of your browser. A result is "
            f"shown from {FEWEST} answers on, and the right answer in any case."
        )
        _show_kept()


def _show_kept() -> None:
    """List the rooms of which this browser has the key, and that are still there."""
    for code, key in rooms_kept():
        if not server().is_teachers(code, key):
            continue
        try:
            state = server().state(code)
        except (NoSuchRoom, Unreachable):
            continue
        people = "1 person" if state.people == 1 else f"{state.people} people"
        label = f"Back to room {spaced(code)}: {people}, {state.number} asked"
        st.button(label, key=f"_room_back.{code}", icon=":material/history:", on_click=_back, args=(code, key))


def _back(code: str, key: str) -> None:
    """Teach a room in this visit, too."""
    keep_key(code, key)
    parameters.ROOM.set(code)
    parameters.TEACH.set(1)


def _join() -> None:
    code = read_code(st.session_state.get(_TYPED) or "")
    if code is None:
        st.session_state[_SAID] = "A code has six letters and digits, such as K7W 2QD."
        return
    parameters.ROOM.set(code)


def leave(said: str = "") -> None:
    """Go back to the door, and show a sentence there."""
    parameters.ROOM.set("")
    parameters.PROJECTOR.set(0)
    parameters.SUMMARY.set(0)
    st.session_state[_SAID] = said
