"""The widgets for a learner's answer: options to choose from, a line for a number, tokens or heads to pick from."""

from __future__ import annotations

import streamlit as st

from lab.course.words import escaped
from lab.questions.forms import Picks
from lab.questions.question import Question, lettered
from lab.rooms.typed import read_number, wanted

_LONGEST = 40
# The most tokens that are drawn as buttons; for more tokens, a list with a search is quicker to use.
_MOST_BUTTONS = 60


def draw(question: Question, key: str, mine: float | None) -> None:
    """Draw the widget, which begins with ``mine``, the answer already given."""
    bounds, picks = question.bounds, question.picks
    if picks is not None:
        _draw_picks(picks, key, None if mine is None else int(mine))
        return
    if mine is not None:
        st.session_state.setdefault(key, int(mine) if bounds is None else written(mine))
    if bounds is not None:
        label = f"Your answer, in {bounds.unit}" if bounds.unit else "Your answer"
        st.text_input(label, key=key, max_chars=_LONGEST, placeholder="A number", autocomplete="off")
        st.caption(wanted(bounds))
        return
    places = range(len(question.options))
    st.radio("Your answer", places, None, lambda place: lettered(question, place), key=key)


def read(question: Question, key: str) -> float | None:
    """The answer in the widget; None if it is empty. Raises NotANumber."""
    given, bounds, picks = (
        st.session_state.get(key),
        question.bounds,
        question.picks,
    )
    if isinstance(given, str) and bounds is not None:
        return read_number(given, bounds) if given.strip() else None
    if picks is not None and picks.layers > 1:
        layer = st.session_state.get(f"{key}.layer")
        return None if layer is None or given is None else layer * picks.heads + given
    return given if isinstance(given, int) else None


def said(question: Question, value: float) -> str:
    """Put an answer into words."""
    bounds, picks = question.bounds, question.picks
    if picks is not None:
        return f"**{escaped(picks.name(int(value)))}**"
    if bounds is None:
        return lettered(question, int(value))
    return f"**{written(value)}** {bounds.unit}".rstrip()


def written(value: float) -> str:
    """Write a number in a form that can be typed again."""
    return f"{value:.10g}"


def _draw_picks(picks: Picks, key: str, mine: int | None) -> None:
    """Draw buttons: the tokens in their order or, for heads, one row of layers and one row of heads."""
    if picks.tokens:
        if mine is not None:
            st.session_state.setdefault(key, mine)
        places = range(len(picks))
        if len(picks) <= _MOST_BUTTONS:
            st.pills("Pick a token", places, format_func=lambda place: escaped(picks.name(place)), key=key)
        else:
            st.selectbox("Pick a token", places, None, picks.name, key=key)
        return
    if mine is not None:
        st.session_state.setdefault(f"{key}.layer", mine // picks.heads)
        st.session_state.setdefault(key, mine % picks.heads)
    if picks.layers > 1:
        st.pills("Pick a layer", range(picks.layers), format_func=_counted, key=f"{key}.layer")
    st.pills("Pick a head", range(picks.heads), format_func=_counted, key=key)


def _counted(place: int) -> str:
    return str(place + 1)
