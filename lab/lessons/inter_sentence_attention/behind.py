"""The words behind a number of the map, in all heads together or in one head."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.sentences.attention import AVERAGE, mean_cells
from lab.charts.base.labels import visible
from lab.course.sentences.looks import look_head
from lab.course.words import head_name, quoted
from lab.figures import sentences
from lab.lessons.inter_sentence_attention import LESSON, checks, meanings
from lab.lessons.inter_sentence_attention.meanings import Link
from lab.lessons.inter_sentence_attention.row import draw_sentence
from lab.lessons.inter_sentence_attention.view import SentencesView, choose_one
from lab.models.interventions import Head
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import BEHIND, DEFAULT_TEXT, HEAD, LAYER, ONE_HEAD
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table


def show_behind(view: SentencesView) -> None:
    """Draw the weights from the tokens of a sentence to the tokens of another, over all heads or in one head."""
    row = st.container()  # the arcs of the sentence would give the answer away
    words = meanings.strongest(view.trace, view.a, view.b, AVERAGE, view.left_out)
    known = predict(LESSON, _asked(view, words))
    drawing = st.container()
    heads: str | Head | None = _heads(view) if known else None
    with row:
        draw_sentence(view, heads)
    if heads is None:
        return
    with drawing:
        draw(partial(sentences.block, view.trace, view.a, view.b, heads, view.left_out), "block")
        _say_part(view)
    meaning(meanings.words_behind(view.trace, view.a, view.b, heads, view.left_out))
    st.caption("A large number shows where heads look. It does not show that the model knows who is meant.")
    if words:
        _show_its_head(view, words[0], heads)
    code(mean_cells)


def _asked(view: SentencesView, words: list[Link]) -> checks.Question | None:
    found = sentences.behind(view.trace, view.sentences, view.a, view.b, AVERAGE, view.left_out)
    return checks.word_behind(view.trace, found, words[0] if words else None, checks.sentence_name(view.b))


def _heads(view: SentencesView) -> str | Head:
    """Return the chosen heads as :func:`lab.figures.sentences.block` takes them."""
    chosen = BEHIND.choose("Heads")
    if chosen == AVERAGE:
        return AVERAGE
    layer, head = (int(number) for number in view.found.where[view.a, view.b, :2])
    if chosen == ONE_HEAD:
        model = view.trace.model
        with st.container(horizontal=True):
            layer = choose_one(LAYER, "Layer", model.config.layers, layer + 1, model.id)
            head = choose_one(HEAD, "Head", model.config.heads, head + 1, model.id)
    else:
        st.caption(_say_largest(view))
    return layer, head


def _say_part(view: SentencesView) -> None:
    """Say which part of a large block is drawn."""
    sides = [len(view.found.members[sentence]) for sentence in (view.a, view.b)]
    if max(sides) > sentences.TOKENS:
        st.caption(f"The block is {sides[0]} × {sides[1]}; the figure shows the part around its largest weight.")


def _say_largest(view: SentencesView) -> str:
    """Name the largest weight of any head, and say if this weight tells nothing about the two sentences."""
    layer, head, query, key = (int(number) for number in view.found.where[view.a, view.b])
    labels = view.trace.labels
    told = (
        f"Of all heads, the largest weight is here: in {head_name((layer, head))}, {quoted(labels[query])} gives "
        f"{quoted(labels[key])} {view.found.maximum[view.a, view.b]:.3f}. In Python: "
        f"`trace.layer({layer}).attention[{head}, {query}, {key}]`."
    )
    if view.a != view.b and abs(query - key) == 1:
        told += (
            " The two tokens are neighbours: a head that looks at the token before or after crosses the border between "
            "two sentences, whatever they say."
        )
    return told


def _show_its_head(view: SentencesView, link: Link, heads: str | Head) -> None:
    """Name the head with the largest weight along the strongest link, and offer to look at it alone."""
    head, _ = meanings.strongest_head(view.trace, link)
    story = None if view.is_toy else look_head(view.page.run(view.trace.model.id, DEFAULT_TEXT, ""))
    st.caption(meanings.of_heads(view.trace, link, story))
    if heads != head:
        changes: dict[Parameter[Any], Any] = {BEHIND: ONE_HEAD, LAYER: head[0] + 1, HEAD: head[1] + 1}
        try_this("look at this head alone.", f"Open {head_name(head)}", changes)


def show_every_maximum(view: SentencesView) -> None:
    """Draw a table of the largest weight between each two sentences, with the head in which it occurs."""
    found, tokens = view.found, view.trace.labels
    pairs = [pair for pair in np.ndindex(*found.maximum.shape) if found.where[pair][0] >= 0]
    where = [found.where[pair].tolist() for pair in pairs]
    table = pd.DataFrame(
        {
            "from": [a + 1 for a, _ in pairs],
            "to": [b + 1 for _, b in pairs],
            "maximum": [float(found.maximum[pair]) for pair in pairs],
            "layer": [layer + 1 for layer, _, _, _ in where],
            "head": [head + 1 for _, head, _, _ in where],
            "query": [visible(tokens[query], None) for _, _, query, _ in where],
            "key": [visible(tokens[key], None) for _, _, _, key in where],
        }
    )
    show_table(table, formats={"maximum": "%.4f"})
