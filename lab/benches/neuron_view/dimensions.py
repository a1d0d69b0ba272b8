"""Dimensions: the row of one query from its vectors to the vector that the head adds."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.one_row import heaviest, window
from lab.analysis.heads.query_neurons import NeuronRow, neuron_row
from lab.benches.neuron_view import NeuronView
from lab.charts.components.neuron_view import neuron_chart
from lab.charts.kept.keepable import LiveChart
from lab.figures.attention import place
from lab.models.trace import Trace
from lab.ui import parameters
from lab.ui.components import mount
from lab.ui.drawing import code, show_numbers
from lab.ui.parameters import AROUND
from lab.ui.screen import meaning
from lab.ui.sentence import show_sentence

# The most keys in one figure.
KEYS = 40
_HOW_TO_READ = (
    "Read a row from left to right: a key, its products with the query, the sum of these products, "
    "the weight that follows from it, the value, and the vector that the head adds."
)


def show(view: NeuronView) -> None:
    """Draw the way from the vectors of query and keys to the vector that the head adds."""
    show_sentence(view.trace, view.query, of=view.at)
    st.markdown(_HOW_TO_READ)
    around = len(view.trace) > KEYS and _choose_keys()
    row = neuron_row(view.trace, view.layer, view.head, view.query)
    call = partial(neurons, view.trace, view.layer, view.head, view.query, around)
    chart = call()
    mount("neuron_view", chart.payload, "neuron-view")
    meaning(said(view, row))
    if part := share_drawn(row, view.query, around):
        st.caption(part)
    st.caption(
        "A cell is a dimension of this head; Vig (2019) calls these dimensions neurons. Hover over a cell, or use the "
        "arrow keys on a key, to see the same dimension in every strip. Click a key, or press Enter, to see the key’s "
        "sum term by term."
    )
    show_numbers(chart.table, "neuron-view", call, chart)
    code(neuron_row)


def drawn_keys(row: NeuronRow, query: int, around: bool) -> list[int]:
    """Return the keys that get a row: all keys of a short text.

    In a long text, these are the heaviest keys, or the keys around the query.
    """
    n = len(row.keys)
    if n <= KEYS:
        return list(range(n))
    near = window(query, n, KEYS)
    return list(range(near.start, near.stop)) if around else heaviest(row.weights, query, KEYS)


def neurons(traced: Trace, layer: int, head: int, query: int, around: bool = False) -> LiveChart:
    """Draw query, keys, products, scores, weights, values and their sum, with one line for each key that gets a row."""
    row, title = neuron_row(traced, layer, head, query), f"Dimensions of {place(layer, head)}"
    return neuron_chart(row, traced.labels, query, drawn_keys(row, query, around), title=title)


def said(view: NeuronView, row: NeuronRow) -> str:
    """Name the key with the largest weight, and the longest vector if another key adds it; give the sum's length."""
    top, longest = int(row.weights.argmax()), int(row.lengths.argmax())
    text = f"{view.name(view.query)} gives its largest weight, **{row.weights[top]:.2f}**, to {view.name(top)}"
    if longest != top:
        text += f", but the longest vector comes from {view.name(longest)}: **{row.lengths[longest]:.2f}**"
    return f"{text}. The head adds a vector of length **{np.linalg.norm(row.contribution):.2f}**."


def share_drawn(row: NeuronRow, query: int, around: bool) -> str:
    """Say which share of the row is drawn; "" for a whole row."""
    keys = drawn_keys(row, query, around)
    if len(keys) == len(row.keys):
        return ""
    which = "around the query" if around else "with the largest weights, the query included"
    return (
        f"You see the {len(keys)} of {len(row.keys)} keys {which}. These keys have "
        f"{row.weights[keys].sum():.1%} of the weight. The sums include the keys that are not drawn."
    )


def _choose_keys() -> bool:
    """Let the learner choose the keys of a long text that get a row; return True for the keys around the query."""
    return parameters.KEYS.choose("Keys") == AROUND
