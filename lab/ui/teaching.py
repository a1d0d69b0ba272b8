"""The lab in front of a class, ``?teach=1``: larger type, answers behind buttons, steps by keyboard."""

from __future__ import annotations

import streamlit as st

from lab.ui import selection

# Streamlit measures in rem, that is in the size of the page's own type: 16 px otherwise.
_LARGER = "<style>html:root { font-size: 20px; }</style>"
# The keys that a presenter's remote control sends.
_BACK, _FORWARD = "PageUp", "PageDown"


def keys() -> tuple[str | None, str | None]:
    """The keys of the step before and the next one; none while a learner reads, who scrolls with them."""
    return (_BACK, _FORWARD) if selection.chosen("teach") else (None, None)


def show() -> None:
    """Sidebar: that a class is taught, and the way out. Nothing otherwise."""
    if not selection.chosen("teach"):
        return
    st.html(_LARGER)
    with st.container(border=True):
        st.markdown(
            f":material/co_present: **Teaching.** Answers wait for Reveal. {_BACK} and {_FORWARD} turn the step."
        )
        st.button("Leave", key="_leave_teaching", type="tertiary", on_click=turn, args=(0,))


def turn(on: int) -> None:
    """Begin (1) or end (0) to teach; the link of every page follows."""
    st.session_state["teach"] = on
