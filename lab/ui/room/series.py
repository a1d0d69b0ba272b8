"""The series of a room as its teacher changes it, from a lesson or from the page of rooms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from lab.course.words import escaped
from lab.rooms.series import Own, PreparedQuestion, Series, read, written
from lab.rooms.server import server
from lab.ui.room.seat import key_of
from lab.ui.room.steps import SAID, change

NOT_ADDED = "Nothing was added, because the series has it already."


def add(code: str, items: Sequence[PreparedQuestion | Own]) -> bool:
    """Add questions at the end of the series, and keep a sentence that says what became of it; return if it worked."""
    counts = []

    def added(series: Series) -> Series:
        longer = series.with_items(items)
        counts.extend([len(series.items), len(longer.items)])
        return longer

    if not change_series(code, added):
        return False
    before, after = counts
    new = "1 question was" if after - before == 1 else f"{after - before} questions were"
    st.session_state[SAID] = f"{new} added. The series has {after} now." if after > before else NOT_ADDED
    return after > before


def change_series(code: str, make: Callable[[Series], Series], dropped: int | None = None) -> bool:
    """Change the series, of which a question may be ``dropped``, or keep a sentence that says why it failed."""

    def write() -> None:
        rooms, key = server().rooms, key_of(code)
        taught = rooms.taught(code, key)
        place = taught.place - (dropped is not None and dropped < taught.place)
        rooms.set_series(code, key, written(make(read(taught.series))), place)

    try:
        return change(write)
    except ValueError as wrong:  # too many questions, or too long a series
        st.session_state[SAID] = escaped(str(wrong))
        return False
