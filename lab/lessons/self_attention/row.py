"""The step of the self-attention lesson in which one row is built, stage by stage, and what it is built of."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import get_args

import streamlit as st

from lab.course.pages import bench_of
from lab.course.words import unmarked
from lab.figures import attention
from lab.lessons.self_attention import meanings
from lab.ui.components import mount
from lab.ui.drawing import draw
from lab.ui.frame.script import try_this, way_to
from lab.ui.parameters import TOKEN
from lab.ui.shared.one_head import OneHead


def show_built(view: OneHead) -> None:
    """The whole row, stage by stage."""
    st.markdown(
        f"{view.token(view.query)} has a query, and every token has a key and a value. Four short computations turn "
        "them into what the token collects. Go through them one by one, or press Play."
    )
    row = attention.row_built(view.trace, view.layer.index, view.head, view.query, view.key)
    said = meanings.of_stages(view.trace, view.layer.index, view.head, view.query)
    mount("row_built", replace(row, means=tuple(map(unmarked, said))).payload(), "row-built")
    _show_projections(view)
    sharpest = meanings.sharpest_word(view.trace, view.layer.index, view.head)
    if sharpest not in (None, view.query):
        why = f"Of all words, {view.token(sharpest)} has the largest weight in its row. See what softmax makes of it."
        try_this(why, f"Query {sharpest + 1}", {TOKEN: sharpest + 1})
    way_to("On the bench", bench_of("neuron-view"))


def _show_projections(view: OneHead) -> None:
    """Behind a click: the queries, keys and values of all tokens, which the row was built of."""
    label = "The queries, keys and values of all tokens"
    with st.expander(label, icon=":material/grid_on:", on_change="rerun", key="_projections") as folded:
        if not folded.open:
            return
        width = view.trace.model.config.head_width
        count = attention.PROJECTED
        if width > count and st.toggle(f"All {width} dimensions of this head", key="_all_dimensions"):
            count = width
        for of in get_args(attention.Projection):
            where = (view.trace, view.layer.index, view.head, of, view.query, count)
            draw(partial(attention.projections, *where), f"projections-{of}")
        n, rows = len(view.trace), attention.PROJECTED_TOKENS
        if n > rows:
            st.caption(f"The maps show {rows} of {n} tokens, around the query.")
        st.markdown(
            f"Each row is one token’s vector in this head. Each score is the query of {view.token(view.query)} times "
            "one key. The query’s token gets a mix of the values."
        )
