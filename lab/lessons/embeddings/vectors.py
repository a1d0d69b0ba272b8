"""A row of a table: each id picks a row of numbers, the token's first vector."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.heads.one_row import window
from lab.course.pages import lesson_of, number
from lab.figures import embedding_figures
from lab.figures.embedding_figures import TOKENS
from lab.lessons.embeddings.view import EmbeddingView, choose_dimensions
from lab.models import forward
from lab.models.catalogue import twin_of
from lab.ui.drawing import code, draw
from lab.ui.parameters import TEXT
from lab.ui.screen import meaning, say, try_this
from lab.ui.sentence import show_sentence

TWICE = "The dog barked at the other dog."
IDEA = """
Each id picks a row of a large table: {rows:,} rows of {width} numbers. Such a row is a **vector**, here also called an
**embedding**. Each of its numbers is a **dimension**."""
CAPTION = """
Each row is a token’s vector, and each column is one of its {width} numbers. The frame is around the row of {word}."""
WINDOW = "The figure shows tokens {first} to {last} of {n}, around the chosen token."
READING = "{word} has the id {id:,}, so it gets row {id:,}, in every text, wherever it occurs."
LEARNED = " Nobody wrote these numbers: the model has learned them (lesson {lesson})."


def show(view: EmbeddingView) -> None:
    """Show how ids become rows of numbers, with the row of every token."""
    trace, table, n = view.trace, view.trace.model.weights.embeddings.token, len(view.trace)
    say(IDEA.format(rows=table.shape[0], width=view.width))
    show_sentence(trace, view.token)
    draw(partial(embedding_figures.vectors, trace, view.token, choose_dimensions(view.width)), "vectors")
    if n > TOKENS:
        rows = window(view.token, n, TOKENS)
        st.caption(WINDOW.format(first=rows.start + 1, last=rows.stop, n=n))
    st.caption(CAPTION.format(width=view.width, word=view.word))
    told = READING.format(word=view.word, id=trace.token_ids[view.token])
    if not view.of_toy and twin_of(trace.model.id) is None:
        told += LEARNED.format(lesson=number(lesson_of("how-it-learns")))
    meaning(told)
    if not view.of_toy:
        try_this("a sentence in which a word occurs twice.", "Take two dogs", {TEXT: TWICE})
    code(forward.embed)
