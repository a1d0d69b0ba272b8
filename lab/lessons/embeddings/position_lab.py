"""Positions taken away and tokens reordered: what a transformer knows of order without them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import Gap, Order, new_order, permutation_gap, reordered
from lab.course.words import quoted
from lab.lessons.embeddings import change_figures as figures
from lab.lessons.embeddings import checks as ask
from lab.lessons.embeddings.change_figures import NO_MASK, WITH, WITHOUT
from lab.lessons.embeddings.screens import LESSON, EmbeddingView
from lab.models.encoding import word_of
from lab.ui.drawing import code, draw
from lab.ui.parameters import ORDER
from lab.ui.quiz import predict

_SHOWN = 12  # tokens of a text that a sentence may list


def show_position_lab(view: EmbeddingView) -> None:
    """The same tokens in another order, with and without positions."""
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
    ways = figures.ways_to_run(trace)
    if not predict(LESSON, ask.after_reordering(order, permutation_gap(trace, order, ways[WITHOUT]), view.learned)):
        return
    gaps = {name: permutation_gap(trace, order, way) for name, way in ways.items()}
    _draw(view, gaps, order)
    st.markdown(_explained(view, gaps))
    code(permutation_gap)


def _row(tokens: tuple[str, ...]) -> str:
    rest = " …" if len(tokens) > _SHOWN else ""
    return " ".join(quoted(token) for token in tokens[:_SHOWN]) + rest


def _draw(view: EmbeddingView, gaps: dict[str, Gap], order: Order) -> None:
    with st.container(horizontal=True):
        for name, gap in gaps.items():
            st.metric(f"max |difference|, {name}", f"{gap.layers.max():.2g}", border=True, width="content")
    draw(partial(figures.reordering, view.trace, order), "position-lab")
    segment = "; its segment goes with it" if view.trace.model.config.segments > 1 else ""
    st.markdown(
        f"Each token is compared with itself, at its old and at its new place{segment}. The largest number in these "
        f"vectors is {gaps[WITHOUT].largest:.1f}."
    )


def _explained(view: EmbeddingView, gaps: dict[str, Gap]) -> str:
    """What the numbers say, and why."""
    config = view.trace.model.config
    if config.causal:
        told = (
            f"**Without positions, the outputs do not simply move with their tokens in {view.model}.** Its mask lets a "
            "token see only what stands before it, and another order puts other tokens before it: the mask itself "
            "tells where a token stands (Haviv et al. 2022)."
        )
        return f"{told} Take the mask away as well, and what differs is rounding: the outputs move with their tokens."
    if not gaps[WITHOUT].follows:
        return (
            f"**Without positions, the outputs do not simply move with their tokens in {view.model}.** In a local "
            f"layer a token sees only {config.window} tokens to either side, and another order puts other tokens "
            "there: the mask itself tells which tokens are near. Take the mask away as well, and what differs is "
            "rounding: the outputs move with their tokens."
        )
    told = (
        f"**Without positions, every output moves with its token**; what differs is rounding in float32. "
        f"Self-attention adds up over a set of tokens, and every other step in {view.model} looks at one token alone."
    )
    if gaps[WITH].follows:
        return f"{told} With positions, the outputs move with their tokens here, too."
    if NO_MASK in gaps:
        told = f"{told} A local layer hides what is far away, but in this order near tokens stay near."
    where = "the vectors" if view.learned else "how far queries and keys are turned"
    alone = "" if NO_MASK in gaps else ", and nowhere else"
    return f"{told} With positions, the numbers change: the order is in {where}{alone}."
