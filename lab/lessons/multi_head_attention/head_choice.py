"""How many heads a toy has: decided before they are drawn."""

from __future__ import annotations

import streamlit as st

from lab.analysis.heads.comparing import divisors
from lab.ui import parameters, selection, sidebar
from lab.ui.page import LessonPage
from lab.ui.parameters import RANDOM


def number_of_heads(page: LessonPage) -> int | None:
    """Sidebar: into how many heads the random toy is cut; None for the constructed one."""
    if page.selection.toy_weights != RANDOM:
        return None
    default, least, width = parameters.NUMBERS["toy_heads"]  # at most one head for each dimension
    with sidebar.controls():
        st.number_input("Number of heads", least, width, default, key="toy_heads", bind="query-params")
    asked, cuts = selection.current().toy_heads, divisors(width)
    if asked in cuts:
        return asked
    nearest = max(cut for cut in cuts if cut < asked)
    st.warning(
        f"{width} dimensions do not divide into {asked} equally wide heads: {width} ÷ {asked} = "
        f"{width / asked:.2f}. You see {nearest}; possible are {', '.join(map(str, cuts))}.",
        icon=":material/content_cut:",
    )
    return nearest
