"""How many heads a toy has: decided before they are drawn."""

from __future__ import annotations

import streamlit as st

from lab.analysis.heads.comparing import divisors
from lab.ui import sidebar
from lab.ui.page import LessonPage
from lab.ui.parameters import RANDOM, TOY_HEADS


def number_of_heads(page: LessonPage) -> int | None:
    """Sidebar: into how many heads the random toy is cut; None for the constructed one."""
    if page.selection.toy_weights != RANDOM:
        return None
    with sidebar.controls():
        asked = TOY_HEADS.choose("Number of heads")
    width = TOY_HEADS.most  # at most one head for each dimension
    cuts = divisors(width)
    if asked in cuts:
        return asked
    nearest = max(cut for cut in cuts if cut < asked)
    st.warning(
        f"{width} dimensions do not divide into {asked} equally wide heads: {width} ÷ {asked} = "
        f"{width / asked:.2f}. You see {nearest}; possible are {', '.join(map(str, cuts))}.",
        icon=":material/content_cut:",
    )
    return nearest
