"""The tokens behind a number of the matrix, in the heads that the learner chooses."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.sentences.attention import AVERAGE, LARGEST, MAXIMUM, SentenceCells
from lab.charts.base.labels import visible
from lab.course.words import named
from lab.figures import sentences
from lab.lessons.inter_sentence_attention.view import SentencesView, choose_one
from lab.ui.drawing import draw
from lab.ui.parameters import BEHIND, HEAD, LAYER, ONE_HEAD, STRONGEST
from lab.ui.tables import show_table


def show_tokens(view: SentencesView, measure: str) -> None:
    """The weights from the tokens of a sentence to those of another: of one head, or of all."""
    a, b = view.a, view.b
    st.header(f"The tokens behind it: sentence {a + 1} to sentence {b + 1}")
    # A maximum is one weight of one head, so no mean is behind it.
    chosen = BEHIND.choose("Heads", (STRONGEST, LARGEST, ONE_HEAD) if measure == MAXIMUM else ())
    heads = _heads(view, chosen)
    draw(partial(sentences.block, view.trace, a, b, heads, view.left_out), "block")
    sides = [len(view.found.members[sentence]) for sentence in (a, b)]
    if max(sides) > sentences.TOKENS:
        st.caption(f"The block is {sides[0]} × {sides[1]}; the figure shows the part around its largest weight.")
    if chosen in (AVERAGE, ONE_HEAD):
        _say_sent(view, heads)
    else:
        _say_largest(view)
    if measure == MAXIMUM:
        with st.expander("Every pair: which layer and head gave the maximum", icon=":material/table:"):
            show_table(_every(view), formats={"maximum": "%.4f"})


def _heads(view: SentencesView, chosen: str) -> str | tuple[int, int]:
    """What :func:`lab.figures.sentences.block` takes; for one head, the two lists that choose it."""
    if chosen in (AVERAGE, LARGEST):
        return chosen
    layer, head = (int(number) for number in view.found.where[view.a, view.b, :2])
    if chosen == STRONGEST:
        return layer, head
    model = view.trace.model
    with st.container(horizontal=True):
        layer = choose_one(LAYER, "Layer", model.config.layers, layer + 1, model.id)
        head = choose_one(HEAD, "Head", model.config.heads, head + 1, model.id)
    return layer, head


def _say_sent(view: SentencesView, heads: str | tuple[int, int]) -> None:
    """What all rows send, in one head or in the mean of all, and the largest weight."""
    a, b, mass = view.a, view.b, float(view.found.mass[view.a, view.b])
    cells = sentences.behind(view.trace, view.sentences, a, b, heads, view.left_out)
    sent = float(cells.weights.sum(axis=1, dtype=np.float64).mean())
    each = f"Each row adds up to what one token of sentence {a + 1} sends to sentence {b + 1}"
    if isinstance(heads, str):
        st.markdown(
            f"{each}; the mean mass is the mean of these sums, **{sent:.3f}**. {_largest(view, cells)} "
            f"{_most_given(view, cells)}"
        )
        return
    all_heads = "over all heads" + f", with {view.outside} left out," * view.left_out
    st.markdown(
        f"{each} in this head. The mean of these sums is **{sent:.3f}**; {all_heads} it is {mass:.3f}. "
        f"{_largest(view, cells)}"
    )


def _most_given(view: SentencesView, cells: SentenceCells) -> str:
    """The token that gets most of what is sent, and whether it is a word at all."""
    given = cells.weights.mean(axis=0, dtype=np.float64)
    most = int(given.argmax())
    token = view.trace.labels[int(cells.keys[most])]
    word = "" if any(letter.isalnum() for letter in token) else ", which is no word"
    return f"Of the {given.sum():.2f}, {given[most]:.2f} goes to {named(view.trace, int(cells.keys[most]))}{word}."


def _largest(view: SentencesView, cells: SentenceCells) -> str:
    query, key = np.unravel_index(int(cells.weights.argmax()), cells.weights.shape)
    return (
        f"The largest weight, {cells.weights.max():.3f}, is from {named(view.trace, int(cells.queries[query]))} to "
        f"{named(view.trace, int(cells.keys[key]))}."
    )


def _say_largest(view: SentencesView) -> None:
    """The largest weight of any head, and the head that has it."""
    found, a, b = view.found, view.a, view.b
    layer, head, query, key = (int(number) for number in found.where[a, b])
    st.markdown(
        f"In layer {layer + 1}, head {head + 1}, {named(view.trace, query)} gives {named(view.trace, key)} "
        f"**{found.maximum[a, b]:.3f}**: no head of any layer has a larger weight from sentence {a + 1} to sentence "
        f"{b + 1}. In Python: `trace.layer({layer}).attention[{head}, {query}, {key}]`."
    )
    if a != b and abs(query - key) == 1:
        st.markdown(
            "The two tokens are neighbours. A head that attends to the previous or the next token crosses the border "
            "between two sentences whatever they say. The mean mass hardly moves with one such weight."
        )


def _every(view: SentencesView) -> pd.DataFrame:
    """A row for each pair that can be seen."""
    found, tokens = view.found, view.trace.labels
    pairs = [pair for pair in np.ndindex(*found.maximum.shape) if found.where[pair][0] >= 0]
    where = [found.where[pair].tolist() for pair in pairs]
    return pd.DataFrame(
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
