"""This browser's place in a room. What it keeps is in its own storage; here it lasts as long as the visit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

_SEATS, _KEYS, _FALSE = "_room_seats", "_room_keys", "_room_false_keys"
# A participant's secret as the browser makes it, and a key as the server does.
_WHO, _KEY = re.compile(r"[0-9a-f]{32}"), re.compile(r"[\w-]{22}", re.ASCII)


@dataclass(frozen=True)
class Seat:
    """Who sits here: the participant's secret, and the teacher's key; empty for everybody else."""

    who: str
    key: str


def seat(code: str) -> Seat | None:
    """The place of this browser in the room ``code``; None until the browser has told it, a moment later."""
    keys: dict[str, str] = st.session_state.setdefault(_KEYS, {})
    seats: dict[str, Seat] = st.session_state.setdefault(_SEATS, {})
    told = _component()(key="seat", data={"code": code, "key": keys.get(code, "")}, on_seat_change=_rerun).get("seat")
    match told:
        case [str(of), str(who), str(key)] if of == code and _WHO.fullmatch(who):
            true = _KEY.fullmatch(key) and code not in st.session_state.get(_FALSE, ())
            seats[code] = Seat(who, key if true else "")
            if seats[code].key:
                keys[code] = key
    return seats.get(code)


def keep_key(code: str, key: str) -> None:
    """This visit has opened the room ``code``; its browser learns the key when the room's page is drawn."""
    st.session_state.setdefault(_KEYS, {})[code] = key


def key_of(code: str) -> str:
    """The teacher's key of the room ``code``; empty for a visit that has not shown one."""
    found = st.session_state.get(_KEYS, {}).get(code, "")
    return found if isinstance(found, str) else ""


def forget_key(code: str) -> None:
    """The key is not the room's: this visit takes part."""
    st.session_state.get(_KEYS, {}).pop(code, None)
    st.session_state.setdefault(_FALSE, set()).add(code)


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("lab.seat", js=Path(__file__).with_name("seat.js").read_text("utf-8"))


def _rerun() -> None:
    """A state without a callback is not reported at all."""
