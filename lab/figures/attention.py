"""Self-attention: one head's map, and how one query gets from vectors to a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from lab.analysis.heads import attention
from lab.analysis.heads.attention import heaviest, window
from lab.analysis.heads.undivided import undivided
from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.strips import strips
from lab.charts.components.row_built import RowBuilt
from lab.figures.axes import KEY, WEIGHT, queries_and_keys
from lab.models.trace import Trace

# The most cells, bars and rows: more cells make a browser slow; more bars or rows make a page long.
MAP_TOKENS = 96
BARS = 24
ROWS = 16
# The number of dimensions drawn at first in the figure of all queries, keys or values, and the most tokens in it.
PROJECTED, PROJECTED_TOKENS = 48, 32

Projection = Literal["query", "key", "value"]
_PLURAL: Mapping[Projection, str] = {"query": "Queries", "key": "Keys", "value": "Values"}


def place(layer: int, head: int) -> str:
    """Layer and head in words, for titles, counted from 1 as on screen."""
    return f"layer {layer + 1}, head {head + 1}"


def shown(traced: Trace, query: int, key: int) -> tuple[slice, slice]:
    """The queries and keys that are drawn in a map: all of a short text; in a long text, those around the pair."""
    return window(query, len(traced), MAP_TOKENS), window(key, len(traced), MAP_TOKENS)


def attention_map(traced: Trace, layer: int, head: int, query: int = 0, key: int = 0, title: str = "") -> Heatmap:
    """Draw the weights of ``head``; rows attend, columns are attended to. The pair (``query``, ``key``) is outlined."""
    rows, columns = shown(traced, query, key)
    weights = attention.attention_map(traced.layer(layer), head)[rows, columns]
    title, outlined = title or f"Attention weights, {place(layer, head)}", (query - rows.start, key - columns.start)
    masked = traced.model.config.causal and not traced.interventions.no_causal_mask and len(traced) <= MAP_TOKENS
    axes = queries_and_keys(traced, rows, columns)
    return heatmap(weights, axes, WEIGHT, title=title, highlight=outlined, causal=masked)


def row_built(traced: Trace, layer: int, head: int, query: int, key: int) -> RowBuilt:
    """Draw one query's row, built stage by stage; in a long text, only with its heaviest keys."""
    row, n = attention.attention_row(traced.layer(layer), head, query), len(traced)
    seen = heaviest(row.weights, key, min(n, ROWS))
    return RowBuilt(
        traced.labels[query],
        [traced.labels[i] for i in seen],
        row.scores[seen],
        row.weights[seen],
        np.isneginf(row.scaled[seen]),
        float(row.weights.sum(dtype=np.float64)),
        row.values[seen],
        row.context,
        rest=n - len(seen),
        scaled=traced.model.config.scaled_scores,
    )


def projections(
    traced: Trace, layer: int, head: int, of: Projection, token: int = 0, dimensions: int = PROJECTED
) -> Heatmap:
    """Draw the queries, keys or values of all tokens in ``head``, one per row; in a long text, those around ``token``.

    The head's first ``dimensions`` are drawn.
    """
    vectors = getattr(traced.layer(layer), of)[head].numpy()
    rows, width = window(token, len(traced), PROJECTED_TOKENS), vectors.shape[1]
    count = min(dimensions, width)
    title = f"{_PLURAL[of]}, {place(layer, head)}, dimensions 1 to {count} of {width}"
    return strips(vectors[rows, :count], traced.labels[rows], title=title)


def divided(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """Draw the weights of one query with and without the division by √d_k; in a long text, for its heaviest keys."""
    row, n = attention.attention_row(traced.layer(layer), head, query), len(traced)
    seen = heaviest(row.weights, key, min(n, BARS))
    both = np.stack([row.weights, undivided(row)])[:, seen]
    names = f"÷ √{len(row.query)}", "not divided"
    axes = Axis("Scores", names), Axis(KEY, [traced.labels[i] for i in seen])
    part = "" if n <= BARS else f", {len(seen)} keys of {n}"
    return heatmap(both, axes, WEIGHT, title=f"The weights of {traced.labels[query]}{part}")
