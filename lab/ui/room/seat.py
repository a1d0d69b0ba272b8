"""This browser's place in a room. The browser stores it; on the server it lasts as long as the visit."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.config import get_option
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.ui.reports import RoomsKept, SeatKept, heard
from lab.ui.visitor import address

KEY, _KEPT = "seat", "rooms_kept"
_BY, _TOLD, _SEATS, _KEYS, _FALSE = "_room_by", "_room_browser", "_room_seats", "_room_keys", "_room_false_keys"
_TEACHERS = re.compile(r"[\w-]{22}", re.ASCII)
_MOST_ROOMS = 100  # the most rooms that a browser may report


@dataclass(frozen=True)
class ToldSeat:
    """A browser's claim about a room: a participant's seat and a teacher's key, each empty if it is missing."""

    seat: str
    key: str


def told(code: str) -> ToldSeat | None:
    """The browser's report on the room ``code``; None until the report comes, shortly after the first page is drawn."""
    found = st.session_state.get(_TOLD, {}).get(code)
    return found if isinstance(found, ToldSeat) else None


def sit(code: str) -> str:
    """Let this visit into the room ``code`` once, and return its seat, which later reports of the browser do not
    change.

    Raises RoomError, Unreachable.
    """
    from lab.rooms.server import server

    seats: dict[str, str] = st.session_state.setdefault(_SEATS, {})
    if code not in seats:
        kept = told(code)
        seats[code] = server().join(code, visit(), "" if kept is None else kept.seat)
    return seats[code]


def stand_up(code: str) -> None:
    """Take this visit out of the room ``code``; it can enter the room again, as a new participant."""
    st.session_state.get(_SEATS, {}).pop(code, None)


def visit() -> str:
    """Return the server's secret name for this visit; each connection to the server is a separate visit."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def address_hash() -> str:
    """Return a keyed hash of the address from which this visit comes; empty if the server does not know it.

    The key is the server's own, so nobody who reads the database can try all addresses.
    """
    found = address()
    if not found:
        return ""
    secret = str(get_option("server.cookieSecret")).encode()
    return hmac.new(secret, found.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]


def keep_key(code: str, key: str) -> None:
    """Keep the key of the room ``code``, which this visit opened; the browser gets the key at the end of the page."""
    st.session_state.setdefault(_KEYS, {})[code] = key


def key_of(code: str) -> str:
    """Return the teacher's key of the room ``code``; empty for a visit without a key."""
    found = st.session_state.get(_KEYS, {}).get(code, "")
    return found if isinstance(found, str) else ""


def forget_key(code: str) -> None:
    """Drop a key that does not open the room; the visit takes part as a participant instead."""
    st.session_state.get(_KEYS, {}).pop(code, None)
    st.session_state.setdefault(_FALSE, set()).add(code)


def rooms_kept() -> Sequence[tuple[str, str]]:
    """The rooms that this browser has opened, the newest first: their codes and keys. Anybody may have written them.

    Empty until the browser has reported them.
    """
    found = _component()(key=_KEPT, data={"code": ""}, on_rooms_change=_nothing)
    report = heard(found, RoomsKept)
    return () if report is None else [each for each in report.rooms if _TEACHERS.fullmatch(each[1])]


def _nothing() -> None:
    """A report without a callback is not sent at all."""


def keep_in_browser(code: str) -> None:
    """Let the browser store seat and key of the room ``code``, and report them.

    Call this function last on every page.
    """
    data = {
        "code": code,
        "seat": st.session_state.get(_SEATS, {}).get(code, ""),
        "key": key_of(code),
        # After a reconnection the page has a new visit; the new id makes the browser report its stored seat and key
        # again.
        "by": st.session_state.setdefault(_BY, secrets.token_hex(8)),
    }
    _component()(key=KEY, data=data, on_seat_change=_hear)


def _hear() -> None:
    """Read a browser's report, before the page is drawn again. Anybody may have written the report."""
    report = heard(st.session_state[KEY], SeatKept)
    if report is None or report.seat[-1] != st.session_state.get(_BY):
        return
    code, seat, key, _ = report.seat
    found: dict[str, ToldSeat] = st.session_state.setdefault(_TOLD, {})
    if len(found) >= _MOST_ROOMS and code not in found:
        return
    found.setdefault(code, ToldSeat(seat, key))
    if _TEACHERS.fullmatch(key) and code not in st.session_state.get(_FALSE, ()) and not key_of(code):
        keep_key(code, key)


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("lab.seat", js=Path(__file__).with_name("seat.js").read_text("utf-8"))
