"""Positions taken away and tokens reordered: what a transformer knows of order without them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import Gap, Order, new_order, permutation_gap, reordered
from lab.course.words import quoted
from lab.lessons.embeddings import LESSON, change_figures, checks, meanings
from lab.lessons.embeddings.change_figures import WITHOUT
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.encoding import word_of
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import ORDER
from lab.ui.quiz.predictions import predict

_SHOWN = 12  # tokens of a text that a sentence may list


def show_position_lab(view: EmbeddingView) -> None:
    """The learner's tokens in another order, with positions and without."""
    trace = view.trace
    if len(trace) < 2:
        st.info("A single token has no other order. Write a longer sentence in the sidebar.", icon=":material/edit:")
        return
    order = ORDER.choose("The tokens are")
    moved = reordered(trace.encoding, new_order(order, len(trace)))
    st.markdown(
        f"As typed: {_row(trace.labels)}  \n{order.capitalize()}: "
        f"{_row(tuple(word_of(trace.model.tokenizer, each) for each in moved.token_ids))}"
    )
    if (moved.token_ids, moved.segment_ids) == (trace.token_ids, trace.segment_ids):
        st.info("In this order the row of tokens is the same as before. Choose another.", icon=":material/edit:")
        return
    ways = change_figures.ways_to_run(trace)
    if not predict(LESSON, checks.after_reordering(order, permutation_gap(trace, order, ways[WITHOUT]), view.learned)):
        return
    gaps = {name: permutation_gap(trace, order, way) for name, way in ways.items()}
    _draw(view, gaps, order)
    meaning(meanings.reordered(trace, order))
    if order == ORDER.default:
        why = "tokens that move by one place only keep most of their neighbours. Do the outputs change less?"
        try_this(why, "Move them on by one", {ORDER: "moved on by one"})
    code(permutation_gap)


def _row(tokens: tuple[str, ...]) -> str:
    rest = " …" if len(tokens) > _SHOWN else ""
    return " ".join(quoted(token) for token in tokens[:_SHOWN]) + rest


def _draw(view: EmbeddingView, gaps: dict[str, Gap], order: Order) -> None:
    with st.container(horizontal=True):
        for name, gap in gaps.items():
            what = f"Largest difference after the last layer, {name}"
            st.metric(what, f"{gap.layers[-1]:.2g}", border=True, width="content")
    draw(partial(change_figures.reordering, view.trace, order), "position-lab")
    segment = "; its segment goes with it" if view.trace.model.config.segments > 1 else ""
    st.markdown(
        f"Each token is compared with itself, at its old and at its new place{segment}, in all numbers of its vector. "
        f"The largest number in these vectors is {gaps[WITHOUT].largest:.1f}."
    )
