"""Positions taken away, and tokens put into another order, to show what a transformer knows without positions."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import new_order, permutation_gap, reordered
from lab.course.words import quoted
from lab.lessons.embeddings import LESSON, change_figures, checks, meanings
from lab.lessons.embeddings.change_figures import WITHOUT
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.encoding import word_of
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import ORDER
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say

_SHOWN = 12  # tokens of a text that a sentence may list


def show_position_lab(view: EmbeddingView) -> None:
    """Run the learner's tokens in another order, with positions and without."""
    trace = view.trace
    if len(trace) < 2:
        st.info(
            "A single token cannot be put in another order. Write a longer sentence in the sidebar.",
            icon=":material/edit:",
        )
        return
    with sidebar.controls():
        order = ORDER.choose("The tokens are")
    moved = reordered(trace.encoding, new_order(order, len(trace)))
    say(
        f"Your order: {_row(trace.labels)}  \n{order.capitalize()}: "
        f"{_row(tuple(word_of(trace.model.tokenizer, each) for each in moved.token_ids))}"
    )
    if (moved.token_ids, moved.segment_ids) == (trace.token_ids, trace.segment_ids):
        st.info("In this order, the tokens are the same as before. Choose another order.", icon=":material/edit:")
        return
    ways = change_figures.ways_to_run(trace)
    if not predict(LESSON, checks.after_reordering(order, permutation_gap(trace, order, ways[WITHOUT]), view.learned)):
        return
    draw(partial(change_figures.reordering, view.trace, order), "position-lab")
    meaning(meanings.reordered(trace, order))
    say(meanings.why_reordered(trace, order))
    if order == ORDER.default:
        why = "if every token moves by one place only, it keeps most of its neighbours. Do the outputs change less?"
        try_this(why, "Move them on by one", {ORDER: "moved on by one"})
    code(permutation_gap)


def _row(tokens: tuple[str, ...]) -> str:
    rest = " …" if len(tokens) > _SHOWN else ""
    return " ".join(quoted(token) for token in tokens[:_SHOWN]) + rest
