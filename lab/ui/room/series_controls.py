"""The series of a room as its teacher changes it, from a lesson or from the page of rooms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from lab.rooms.series import Own, PreparedQuestion, Series, read, written
from lab.rooms.server import server
from lab.ui.room.seat import key_of
from lab.ui.room.teacher_steps import SAID, change

NOT_ADDED = "Nothing was added, because the series has it already."


def add(code: str, items: Sequence[PreparedQuestion | Own]) -> bool:
    """Add questions at the end of the series, and keep a sentence that says what became of it; return if it worked."""
    counts = []

    def added(series: Series, asked: int) -> tuple[Series, int]:
        longer = series.with_items(items)
        counts.extend([len(series.items), len(longer.items)])
        return longer, asked

    if not change_series(code, added):
        return False
    before, after = counts
    new = "1 question was" if after - before == 1 else f"{after - before} questions were"
    st.session_state[SAID] = f"{new} added. The series has {after} now." if after > before else NOT_ADDED
    return after > before


def change_series(code: str, make: Callable[[Series, int], tuple[Series, int]]) -> bool:
    """Change the series, and how many of its questions were asked, or keep a sentence that says why it failed."""

    def write() -> None:
        rooms, key = server().rooms, key_of(code)
        taught = rooms.taught(code, key)
        series, asked = make(read(taught.series), taught.place)
        rooms.set_series(code, key, written(series), asked)

    return change(write)
