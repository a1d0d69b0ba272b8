"""The screens of the embeddings lesson about the tokens' own vectors; ``positions.py`` has those about positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import streamlit as st

from lab.analysis.heads.attention import window
from lab.analysis.layers.embeddings import Array, parts
from lab.analysis.words.neighbours import token_twice
from lab.course.words import quoted
from lab.figures import embeddings
from lab.figures.embeddings import DIMENSIONS, TOKENS
from lab.lessons.embeddings import meanings
from lab.models import forward
from lab.models.trace import Trace
from lab.ui import selection
from lab.ui.chosen_tokens import with_tokens
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.page import LessonPage
from lab.ui.parameters import FIRST_DIMENSION, MODE, TEXT, TOY
from lab.ui.sentence import show_sentence
from lab.ui.terms import say

_TWICE = "The dog barked at the other dog."


@dataclass(frozen=True)
class EmbeddingView:
    """The token of a text that the learner looks at, and another token to compare it with. Both count from 0."""

    page: LessonPage
    trace: Trace
    token: int
    key: int

    @cached_property
    def parts(self) -> dict[str, Array]:
        """The vectors on their way into layer 1, (n, width) each; vectors that the model does not add are left out."""
        return parts(self.trace)

    @property
    def width(self) -> int:
        """The width of the vectors that are added."""
        return int(self.parts["sum"].shape[1])

    @property
    def learned(self) -> bool:
        """True if the model has a table of positions."""
        return "position" in self.parts

    @property
    def model(self) -> str:
        return quoted(self.trace.model.id)

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])


def choose_dimensions(width: int) -> int:
    """The first of the 64 dimensions that are drawn, from 0; a narrow model is drawn whole, from 0 on."""
    if width <= DIMENSIONS:
        return 0
    last, asked = width - DIMENSIONS + 1, FIRST_DIMENSION.chosen()
    if not 1 <= asked <= last:
        selection.note(f"The figure shows {DIMENSIONS} dimensions from 1 to {last} on, so {asked} became {last}.")
        asked = last
        FIRST_DIMENSION.set(asked)
    FIRST_DIMENSION.type_in(f"Show {DIMENSIONS} of {width} dimensions, from", asked, last, DIMENSIONS)
    return asked - 1


def look(page: LessonPage, trace: Trace) -> EmbeddingView:
    """The selected tokens, moved to places inside this text."""
    return EmbeddingView(page, trace, *with_tokens(trace))


def show_vectors(view: EmbeddingView) -> None:
    """Show how ids become rows of numbers, with the row of every token."""
    trace, table = view.trace, view.trace.model.weights.embeddings.token
    token_id = trace.token_ids[view.token]
    say(
        f"Each id picks a row of a large table: {table.shape[0]:,} rows of {view.width} numbers. {view.word} has the "
        f"id {token_id}, so it gets row {token_id}. Such a row is a **vector**, here also called an **embedding**; "
        "each of its numbers is a **dimension**. Nobody wrote these numbers: the model learned them (lesson 9)."
    )
    show_sentence(trace, view.token)
    figure = st.container()
    first = choose_dimensions(view.width)
    with figure:
        _draw_rows(view, first)
    meaning(meanings.rows(trace, view.token))
    _try_a_word_twice(view)
    code(forward.embed)


def _try_a_word_twice(view: EmbeddingView) -> None:
    """Offer a sentence in which a word occurs twice, unless the text has such a word."""
    ids, special = view.trace.token_ids, view.trace.encoding.special
    twice = any(token_twice(ids, place) is not None for place in range(len(ids)) if not special[place])
    if not twice and view.page.selection[MODE] != TOY:
        why = "a sentence in which a word occurs twice. Does the word get the same row both times?"
        try_this(why, "Take two dogs", {TEXT: _TWICE})


def _draw_rows(view: EmbeddingView, first: int) -> None:
    """Draw one strip per token; in a long text, only for the tokens around the chosen one."""
    n = len(view.trace)
    rows = window(view.token, n, TOKENS)
    draw(partial(embeddings.vectors, view.trace, view.token, first), "vectors")
    if n > TOKENS:
        st.caption(f"Tokens {rows.start + 1} to {rows.stop} of {n} are drawn, around the chosen one.")
    st.caption(f"A row is a token’s vector, a column one of its {view.width} numbers.{_beyond(view)}")


def _beyond(view: EmbeddingView) -> str:
    """Say where the scale of colours ends, if some numbers are beyond its ends."""
    values = view.parts["token"]
    end = embeddings.colours_end(values)
    return f" Beyond ±{end:g} the colours get no stronger." if (np.abs(values) > end).any() else ""


def signed(value: float) -> str:
    """Write a number as a term of a product or sum; a negative number gets parentheses."""
    return f"{value:.4f}" if value >= 0 else f"({value:.4f})"
