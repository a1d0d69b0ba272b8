"""The link for feedback, if the operator wants any."""

from __future__ import annotations

import logging
from functools import cache

import streamlit as st

from lab.course.feedback import WrongAddress, feedback_address, with_link
from lab.ui import selection
from lab.ui.address import absolute
from lab.ui.parameters import STEP

_LOG = logging.getLogger("lab.feedback")


def show_feedback(step: str = "") -> None:
    """Draw the link, filled with the address of the view on screen; draw nothing if the operator set no address.

    ``step`` is the name of the lesson's step on screen.
    """
    if address := _address():
        link = with_link(address, absolute(selection.link() | ({STEP.name: step} if step else {})))
        st.link_button("Feedback on this page", link, icon=":material/rate_review:", type="tertiary")


@cache
def _address() -> str:
    """The operator's address; "" for a wrong one, which the log names once."""
    try:
        return feedback_address()
    except WrongAddress as wrong:
        _LOG.warning("%s", wrong)
        return ""
