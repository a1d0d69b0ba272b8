"""The page of rooms, which shows each visit its own screen and refreshes by itself."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from lab.classroom import entrance, participant, printed, teacher, wall
from lab.classroom.class_plans import Written
from lab.rooms.codes import spaced
from lab.rooms.database import Unreachable
from lab.rooms.rooms import NoSuchRoom, NotTheTeacher, RoomError, Waits
from lab.rooms.seen import Seen, State, Taught
from lab.rooms.server import server
from lab.ui import parameters, shell
from lab.ui.room.here import AWAY, PAUSE, code_here
from lab.ui.room.seat import forget_key, key_of, sit, told
from lab.ui.visitor import this_visitor

_Count = Callable[[State], None]


def show(written: Written) -> None:
    """Draw the door, or the room. ``written`` gives the written questions of a lesson, for plans and answer keys."""
    shell.route()
    code = code_here()
    st.title(f"Room {spaced(code)}" if code else "Room", anchor=False)
    if not code:
        if parameters.ROOM.chosen():
            st.warning("A code has six letters and digits, such as K7W 2QD.", icon=":material/info:")
        entrance.show()
        return
    try:
        _room(code, written)
    except Unreachable:
        st.warning(AWAY, icon=":material/cloud_off:")
        st.fragment(_until_back, run_every=2.0)()
    except NotTheTeacher:
        forget_key(code)
        st.rerun()
    except NoSuchRoom as gone:
        st.warning(str(gone), icon=":material/info:")
        st.button("Another code", on_click=entrance.leave)
    except Waits:
        st.fragment(_knock, run_every=2.0)(code)
    except RoomError as full:
        st.warning(str(full), icon=":material/info:")


def _room(code: str, written: Written) -> None:
    entrance.take_key(code)
    server().find(code, this_visitor())
    key, seat = key_of(code), ""
    if key and not server().is_teachers(code, key):
        forget_key(code)
        key = ""
    screen: Seen | Taught
    count: _Count | None = wall.count
    if parameters.PROJECTOR.chosen():
        screen = wall.show(code)
    elif key and parameters.SUMMARY.chosen():
        screen, count = printed.show(code, key, written), None
    elif key:
        screen, count = teacher.show(code, key, written), teacher.count
    elif told(code) is None:
        st.caption("One moment …")
        return
    else:
        seat = sit(code)
        screen, count = participant.show(code, seat), None
    st.fragment(_look, run_every=PAUSE)(screen.state, seat, count)


def _knock(code: str) -> None:
    """Try again to come in, and say why this takes a while."""
    try:
        sit(code)
    except Waits as why:
        st.info(str(why), icon=":material/hourglass_empty:")
        return
    except Unreachable:
        st.caption(AWAY)
        return
    except RoomError:
        pass  # the page explains the error
    st.rerun()


def _look(drawn: State, seat: str, count: _Count | None) -> None:
    """Check regularly whether the room has changed since the page was drawn, and send an answer on its way.

    A teacher's page thereby tells the room that its teacher is there.
    """
    if key := key_of(drawn.code):
        server().is_teachers(drawn.code, key)
    if seat and participant.deliver(seat):
        st.rerun()
    try:
        now = server().state(drawn.code)
    except Unreachable:
        st.caption(AWAY)
        return
    except NoSuchRoom:
        st.rerun()
    if now.version > drawn.version:
        st.rerun()
    if count is not None:
        count(max(now, drawn, key=lambda state: state.version))


def _until_back() -> None:
    try:
        server().state("")
    except NoSuchRoom:
        st.rerun()
    except Unreachable:
        return
