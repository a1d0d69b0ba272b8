"""What a learner answers with: a choice of options, or a line for a number."""

from __future__ import annotations

import streamlit as st

from lab.front.room import question as shown
from lab.rooms.questions import Hidden, Posed
from lab.rooms.typed import read_number, wanted

_LONGEST = 40


def draw(question: Posed | Hidden, key: str, mine: float | None) -> None:
    """The widget; it begins with ``mine``, the answer that is in."""
    bounds = shown.bounds_of(question)
    if mine is not None:
        st.session_state.setdefault(key, int(mine) if bounds is None else written(mine))
    if bounds is not None:
        label = f"Your answer, in {bounds.unit}" if bounds.unit else "Your answer"
        st.text_input(label, key=key, max_chars=_LONGEST, placeholder="A number", autocomplete="off")
        st.caption(wanted(bounds))
        return
    places = range(len(question.options))
    st.radio("Your answer", places, None, lambda place: shown.option_named(question, place), key=key)


def read(question: Posed | Hidden, key: str) -> float | None:
    """What the widget has; None where nothing is in it. Raises NotANumber."""
    given, bounds = st.session_state.get(key), shown.bounds_of(question)
    if isinstance(given, str) and bounds is not None:
        return read_number(given, bounds) if given.strip() else None
    return given if isinstance(given, int) else None


def said(question: Posed | Hidden, value: float) -> str:
    """An answer in words."""
    bounds = shown.bounds_of(question)
    if bounds is None:
        return shown.option_named(question, int(value))
    return f"**{written(value)}** {bounds.unit}".rstrip()


def written(value: float) -> str:
    """A number as it can be typed again."""
    return f"{value:.10g}"
