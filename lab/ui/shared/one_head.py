"""One head, with its query, its key and its map; several lessons and benches use this view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import streamlit as st

from lab.analysis.heads.one_row import AttentionRow
from lab.charts.kept.keepable import Keepable
from lab.course.words import capital, spoken, told_apart
from lab.figures import attention
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.asking import Spot
from lab.toy.models import CONSTRUCTED, HEAD_RULES
from lab.ui import sentence
from lab.ui.drawing import draw, draw_cells
from lab.ui.page import LessonPage
from lab.ui.parameters import KEY_TOKEN, TOKEN

F = TypeVar("F", bound=Keepable)


@dataclass(frozen=True)
class OneHead:
    """One head of one layer of a run, one query, one key, and the page that shows them. All are counted from 0."""

    page: LessonPage
    trace: Trace
    layer: LayerTrace
    head: int
    query: int
    key: int

    @property
    def spot(self) -> Spot:
        """The place on screen, about which questions are asked."""
        return Spot(self.trace, self.layer.index, self.head, self.query, self.key)

    @property
    def row(self) -> AttentionRow:
        return self.spot.row

    @property
    def place(self) -> str:
        """Layer and head in words, for chart titles, with the index that a notebook would use."""
        return attention.place(self.layer.index, self.head)

    def figure(self, of: Callable[[Trace, int, int, int, int], F]) -> partial[F]:
        """Return the call that makes a figure: ``of`` with this run, layer, head, query and key."""
        return partial(of, self.trace, self.layer.index, self.head, self.query, self.key)

    def token(self, position: int) -> str:
        return told_apart(self.trace, position)


def show_sentence(view: OneHead, arcs: bool = True) -> None:
    """Draw the sentence with the ``arcs`` of this head."""
    of = (view.layer.index, view.head) if arcs else None
    sentence.show_sentence(view.trace, view.query, view.key, of=of)


def draw_map(view: OneHead, traced: Trace, title: str, key: str, *, clickable: bool = False) -> tuple[int, int] | None:
    """Draw one head's map, or its part around the chosen pair; returns the pair that was clicked."""
    call = partial(attention.attention_map, traced, view.layer.index, view.head, view.query, view.key, title)
    rows, columns = attention.shown(traced, view.query, view.key)
    clicked = None
    if clickable:
        clicked = draw_cells(call, key)
    else:
        draw(call, key)
    n = len(traced)
    if rows != slice(0, n):
        st.caption(
            f"The map is {n} × {n}. The figure shows queries {rows.start + 1} to {rows.stop} and keys "
            f"{columns.start + 1} to {columns.stop}, around the chosen pair."
        )
    return None if clicked is None else (clicked[0] + rows.start, clicked[1] + columns.start)


def show_map(view: OneHead) -> None:
    """Draw the whole head: which token attends to which token. A click chooses another pair."""
    clicked = draw_map(view, view.trace, f"Attention weights, {view.place}", "attention-map", clickable=True)
    if clicked is not None and clicked != st.session_state.get("_clicked"):
        st.session_state["_clicked"] = clicked
        TOKEN.set(clicked[0] + 1)
        KEY_TOKEN.set(clicked[1] + 1)
        st.rerun()
    weight = view.row.weights[view.key]
    if view.trace.model.id == CONSTRUCTED:
        st.markdown(f"Head {view.head + 1} was written by hand to {HEAD_RULES[view.head]}.")
    st.markdown(
        f"{capital(spoken(view.trace, view.query))} gives {spoken(view.trace, view.key)} the weight **{weight:.3f}**. "
        "Click a cell to choose another pair."
    )
