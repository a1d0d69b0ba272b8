"""What is decided before the heads are drawn: how many a toy has, and which one was clicked."""

from __future__ import annotations

import streamlit as st

from lab.analysis.heads.comparing import divisors
from lab.lessons.multi_head_attention.heads_off import EFFECTS
from lab.lessons.multi_head_attention.screens import MAPS
from lab.ui import sidebar
from lab.ui.drawing import take_click
from lab.ui.page import LessonPage
from lab.ui.parameters import HEAD, LAYER, RANDOM, TOY_HEADS


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


def take_clicks() -> None:
    """A click on a small map chooses its head, one on the map of all heads its layer, too.

    Read before the selectors are drawn, because a widget's value cannot change after.
    """
    take_click(MAPS, {HEAD: "map"})
    take_click(EFFECTS, {LAYER: "q", HEAD: "k"})
