"""Self-attention: one head's map, and how one query gets from vectors to a context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads import one_row
from lab.analysis.heads.one_row import window
from lab.analysis.heads.values import is_causal
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.figures.trace_axes import WEIGHT, queries_and_keys
from lab.models.trace import Trace

# The most tokens in a map, and the most bars of a figure: more cells make a browser slow, more bars a page long.
MAP_TOKENS = 96
BARS = 24


def place(layer: int, head: int) -> str:
    """Layer and head in words, for titles, counted from 1 as on screen."""
    return f"layer {layer + 1}, head {head + 1}"


def shown(traced: Trace, query: int, key: int) -> tuple[slice, slice]:
    """The queries and keys that are drawn in a map: all of a short text; in a long text, those around the pair."""
    return window(query, len(traced), MAP_TOKENS), window(key, len(traced), MAP_TOKENS)


def weights_among(traced: Trace, layer: int, head: int, tokens: slice) -> Heatmap:
    """Draw the weights of ``head`` among some of the tokens."""
    weights = one_row.attention_map(traced.layer(layer), head)[tokens, tokens]
    title, axes = f"Attention weights, {place(layer, head)}", queries_and_keys(traced, tokens, tokens)
    return heatmap(weights, axes, WEIGHT, title=title, causal=is_causal(traced))


def weights_from(traced: Trace, layer: int, head: int, query: int) -> Figure:
    """Draw what the arcs of a sentence show: the weights that a token gives, in the order of the text.

    Of a long text, only the tokens with the largest weights.
    """
    weights = one_row.attention_map(traced.layer(layer), head)[query]
    places = sorted(one_row.heaviest(weights, query, min(len(traced), BARS)))
    title = f"From {traced.labels[query]}, {place(layer, head)}"
    return bars([traced.labels[at] for at in places], weights[places], WEIGHT, title=title)


def attention_map(
    traced: Trace, layer: int, head: int, query: int | None = None, key: int | None = None, title: str = ""
) -> Heatmap:
    """Draw the weights of ``head``; rows attend, columns are attended to. The pair (``query``, ``key``) is outlined.

    Of a long text without such a pair, the beginning is drawn.
    """
    rows, columns = shown(traced, query or 0, key or 0)
    weights = one_row.attention_map(traced.layer(layer), head)[rows, columns]
    outlined = (None, None) if query is None or key is None else (query - rows.start, key - columns.start)
    title = title or f"Attention weights, {place(layer, head)}"
    masked = is_causal(traced) and len(traced) <= MAP_TOKENS
    axes = queries_and_keys(traced, rows, columns)
    return heatmap(weights, axes, WEIGHT, title=title, highlight=outlined, causal=masked)


def other_words(traced: Trace, query: int) -> NDArray[np.bool_]:
    """Return which tokens are words other than the query, (n,): no marks, no punctuation."""
    words = np.array([any(map(str.isalnum, label)) for label in traced.labels])
    return words & ~np.array(traced.encoding.special) & (np.arange(len(traced)) != query)
