"""A row of a table: each id picks a row of numbers, the token's first vector."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.attention import window
from lab.analysis.layers.embeddings import parts
from lab.analysis.words.neighbours import token_twice
from lab.course.pages import lesson_of, number
from lab.course.words import quoted
from lab.figures import embeddings
from lab.figures.embeddings import TOKENS
from lab.lessons.embeddings.view import EmbeddingView, choose_dimensions
from lab.models import forward
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import TEXT
from lab.ui.sentence import show_sentence
from lab.ui.terms import say

_TWICE = "The dog barked at the other dog."


def said(trace: Trace, token: int) -> str:
    """Say whether a token that occurs twice gets the same row twice; if ``token`` does, it is taken before others."""
    vectors, special = parts(trace)["token"], trace.encoding.special
    for place in (token, *range(len(trace))):
        other = token_twice(trace.token_ids, place)
        if other is not None and special[place] == special[token]:
            first, second = sorted((place, other))
            equal = np.array_equal(vectors[first], vectors[second])
            verb = "gets the same row" if equal else "gets another row"
            return f"{quoted(trace.labels[place])} is token {first + 1} and token {second + 1}. It {verb} both times."
    return f"{quoted(trace.labels[token])} gets this same row in every text, wherever it occurs."


def show(view: EmbeddingView) -> None:
    """Show how ids become rows of numbers, with the row of every token."""
    trace, table = view.trace, view.trace.model.weights.embeddings.token
    token_id = trace.token_ids[view.token]
    learned = number(lesson_of("how-it-learns"))
    say(
        f"Each id picks a row of a large table: {table.shape[0]:,} rows of {view.width} numbers. {view.word} has the "
        f"id {token_id}, so it gets row {token_id}. Such a row is a **vector**, here also called an **embedding**. "
        "Each of its numbers is a **dimension**. Nobody wrote these numbers. The model learned them (lesson "
        f"{learned})."
    )
    show_sentence(trace, view.token)
    _show_rows(view, choose_dimensions(view.width))
    meaning(said(trace, view.token))
    _show_a_word_twice(view)
    code(forward.embed)


def _show_a_word_twice(view: EmbeddingView) -> None:
    """Offer a sentence in which a word occurs twice, unless the text has such a word."""
    ids, special = view.trace.token_ids, view.trace.encoding.special
    twice = any(token_twice(ids, place) is not None for place in range(len(ids)) if not special[place])
    if not twice and not view.of_toy:
        why = "a sentence in which a word occurs twice. Does the word get the same row both times?"
        try_this(why, "Take two dogs", {TEXT: _TWICE})


def _show_rows(view: EmbeddingView, first: int) -> None:
    """Draw one strip per token; in a long text, only for the tokens around the chosen one."""
    n = len(view.trace)
    rows = window(view.token, n, TOKENS)
    draw(partial(embeddings.vectors, view.trace, view.token, first), "vectors")
    if n > TOKENS:
        st.caption(f"The figure shows tokens {rows.start + 1} to {rows.stop} of {n}, around the chosen token.")
    st.caption(
        f"Each row is a token’s vector, and each column is one of its {view.width} numbers. The frame is around the "
        f"row of {view.word}."
    )
