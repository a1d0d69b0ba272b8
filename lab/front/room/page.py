"""The page of rooms: for each visit the screen that it is here for, which looks again by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from lab.course.returning import Returning
from lab.front.room import door, participant, printed, projector, teacher
from lab.rooms.database import Unreachable
from lab.rooms.rooms import NoSuchRoom, NotTheTeacher, RoomError
from lab.rooms.seen import Seen, State, Taught
from lab.ui import parameters, shell
from lab.ui.room.here import AWAY, code_here, pause, server
from lab.ui.room.seat import Seat, forget_key, seat

_Count = Callable[[State], None]


def show(again: Mapping[str, Returning]) -> None:
    """The door, or the room. ``again`` makes third questions, by lesson id."""
    shell.route()
    code = code_here()
    st.title(f"Room {door.spaced(code)}" if code else "Room", anchor=False)
    if not code:
        if parameters.ROOM.chosen():
            st.warning("A code has six letters and digits, as K7W 2QD.", icon=":material/info:")
        door.show()
        return
    try:
        _room(code, again)
    except Unreachable:
        st.warning(AWAY, icon=":material/cloud_off:")
        st.fragment(_until_back, run_every=2.0)()
    except NotTheTeacher:
        forget_key(code)
        st.rerun()
    except NoSuchRoom as gone:
        st.warning(str(gone), icon=":material/info:")
        st.button("Another code", on_click=door.leave)
    except RoomError as full:
        st.warning(str(full), icon=":material/info:")


def _room(code: str, again: Mapping[str, Returning]) -> None:
    server().find(code)
    sits: Seat | None = None
    screen: Seen | Taught
    count: _Count | None = projector.count
    if parameters.PROJECTOR.chosen():
        screen = projector.show(code)
    elif (sits := seat(code)) is None:
        st.caption("One moment …")
        return
    elif sits.key and parameters.SUMMARY.chosen():
        screen, count = printed.show(code, sits.key), None
    elif sits.key:
        screen, count = teacher.show(code, sits.key, again), teacher.count
    else:
        screen, count = participant.show(code, sits), None
    st.fragment(_look, run_every=pause(screen.state))(screen.state, sits, count)


def _look(drawn: State, sits: Seat | None, count: _Count | None) -> None:
    """Again and again: what has changed since the page was drawn. An answer on its way is sent."""
    if sits is not None and participant.deliver(sits):
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
