"""What is decided before the heads are drawn: how many a toy has, and which one was clicked."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from lab.analysis.multi_head import divisors
from lab.ui import parameters, selection, sidebar
from lab.ui.heads_off_steps import EFFECTS
from lab.ui.lesson import LessonPage
from lab.ui.multi_head_steps import MAPS
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


def take_clicks() -> None:
    """A click on a small map chooses its head, one on the map of all heads its layer, too.

    Read before the selectors are drawn, because a widget's value cannot change after.
    """
    take_click(MAPS, {"head": "map"})
    take_click(EFFECTS, {"layer": "q", "head": "k"})


def take_click(chart: str, fields: Mapping[str, str]) -> None:
    """Set each field of the selection to the place that was clicked last in ``chart``, once a click."""
    cells = _selected(chart)
    if not cells or cells == st.session_state.get(f"_taken.{chart}"):
        return
    st.session_state[f"_taken.{chart}"] = cells
    for field, place in fields.items():
        number = cells[0].get(place)
        if isinstance(number, int | float):
            st.session_state[field] = int(number) + 1


def _selected(name: str) -> list[dict[str, float]]:
    """What the chart ``name`` says was clicked last."""
    event = st.session_state.get(name)
    selected = event.get("selection", {}) if event is not None else {}
    return [dict(cell) for key in ("map", "cell") for cell in selected.get(key) or ()]
