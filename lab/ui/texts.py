"""The learner's texts: typed or chosen, or the ones that a page began with, which stay on that page."""

from __future__ import annotations

import streamlit as st

from lab.ui.parameters import DEFAULT_TEXT, PAIR, TEXT

_BEGUN = "_first_text"  # the texts with which a page began


def begin(own: str) -> str:
    """Return the text that a page begins with: its ``own``, or else the lab's.

    It is in the field until the learner types or chooses a text. A page whose field has its own sentence already has
    begun with it: the page was loaded again with this sentence in its address, or a link led back to one of its checks.
    """
    first = own or DEFAULT_TEXT
    if own and _shown() == (own, ""):
        st.session_state[_BEGUN] = (own, "")
    if untouched():
        use_texts(first, "")
        st.session_state[_BEGUN] = (first, "")
    return first


def untouched() -> bool:
    """Return whether the learner has neither typed nor chosen a text: there is no text, or a page began with it."""
    return _shown() in ((None, ""), st.session_state.get(_BEGUN))


def is_begun(text: str, pair: str) -> bool:
    """Return whether a page began with these texts, so that they stay there when the learner leaves it."""
    return (text, pair) == st.session_state.get(_BEGUN)


def _shown() -> tuple[str | None, str]:
    """The texts in the session: None for a text that no page has begun with yet."""
    return st.session_state.get(TEXT.name), st.session_state.get(PAIR.name) or ""


def own_texts() -> dict[str, str]:
    """Return the texts that the learner typed or chose, for the address of a page without fields for them.

    The server always knows the texts in such an address, but the browser drops them when it leaves the page of their
    widgets.
    """
    chosen = {each.name: each.chosen() for each in (TEXT, PAIR)}
    return {} if untouched() else {name: text for name, text in chosen.items() if text}


def use_texts(text: str, pair: str) -> None:
    """Put these texts into the fields of the sidebar, and keep the texts for other pages. For a button's callback."""
    st.session_state.pop(_BEGUN, None)
    TEXT.set(text)
    PAIR.set(pair)
