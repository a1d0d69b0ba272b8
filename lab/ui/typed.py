"""What learners type into a field: text beyond the field's limit is left out, and the page says so.

The fields have no ``max_chars``: Streamlit's browser part ignores a longer paste without a word (streamlit 1.67).
"""

from __future__ import annotations

import streamlit as st

from lab.models.encoding import with_masks
from lab.ui.guard import LONGEST

_TYPED = "_characters_typed."


def shorten(key: str, longest: int, blanks: bool = False) -> None:
    """Shorten the text in the field of this ``key`` to ``longest`` characters; for a callback of the field.

    With ``blanks``, write a blank that is typed as "_" or "▢" as the mask.
    """
    text = st.session_state[key]
    st.session_state[_TYPED + key] = len(text)
    kept = with_masks(text[:longest]) if blanks else text[:longest]
    if kept != text:
        st.session_state[key] = kept[:longest]


def say_shortened(key: str, longest: int) -> None:
    """Say under a field that :func:`shorten` has left out a part of the text, while this text is in the field."""
    typed = st.session_state.get(_TYPED + key, 0)
    if typed > longest and len(st.session_state[key]) == longest:
        most = " or more" if typed >= LONGEST else ""
        read = f"The lab reads the first {longest:,}; the rest was left out."
        st.caption(f"The text had {typed:,} characters{most}. {read}")
