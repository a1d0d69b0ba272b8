"""Self-attention: one head's map, and the way of one query from vectors to a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from lab.analysis.heads import attention
from lab.analysis.heads.attention import heaviest, window
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.charts.cells.strips import strips
from lab.charts.components.row_built import RowBuilt
from lab.charts.marks.bars import bars
from lab.figures.axes import WEIGHT, queries_and_keys
from lab.models.trace import Trace

# More cells than this make a browser slow; more bars than this, a page long.
MAP_TOKENS = 96
BARS = 24
ROWS = 16
# Of the queries, keys and values of all tokens: so many dimensions at first, and so many tokens.
PROJECTED, PROJECTED_TOKENS = 48, 32

Projection = Literal["query", "key", "value"]
_PLURAL: Mapping[Projection, str] = {"query": "Queries", "key": "Keys", "value": "Values"}


def place(layer: int, head: int) -> str:
    """Where we are, for titles, counted from 1 as on screen."""
    return f"layer {layer + 1}, head {head + 1}"


def shown(traced: Trace, query: int, key: int) -> tuple[slice, slice]:
    """The queries and the keys of a map that are drawn: all of a short text, those around the pair of a long one."""
    return window(query, len(traced), MAP_TOKENS), window(key, len(traced), MAP_TOKENS)


def attention_map(traced: Trace, layer: int, head: int, query: int = 0, key: int = 0, title: str = "") -> Heatmap:
    """The weights of ``head``: rows attend, columns are attended to. The pair (``query``, ``key``) is outlined."""
    rows, columns = shown(traced, query, key)
    weights = attention.attention_map(traced.layer(layer), head)[rows, columns]
    title, outlined = title or f"Attention weights, {place(layer, head)}", (query - rows.start, key - columns.start)
    masked = traced.model.config.causal and not traced.interventions.no_causal_mask and len(traced) <= MAP_TOKENS
    axes = queries_and_keys(traced, rows, columns)
    return heatmap(weights, axes, WEIGHT, title=title, highlight=outlined, causal=masked)


def row_built(traced: Trace, layer: int, head: int, query: int, key: int) -> RowBuilt:
    """One query's row, built stage by stage; of a long text the heaviest keys."""
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
    """The queries, keys or values of all tokens in ``head``, a row each; of a long text those around ``token``.

    The first ``dimensions`` of the head's are drawn.
    """
    vectors = getattr(traced.layer(layer), of)[head].numpy()
    rows, width = window(token, len(traced), PROJECTED_TOKENS), vectors.shape[1]
    count = min(dimensions, width)
    title = f"{_PLURAL[of]}, {place(layer, head)}, dimensions 1 to {count} of {width}"
    return strips(vectors[rows, :count], traced.labels[rows], title=title)


def query_key_value(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """The query of one token, and the key and the value of another."""
    row, tokens = attention.attention_row(traced.layer(layer), head, query), traced.labels
    names = [f"query of {tokens[query]}", f"key of {tokens[key]}", f"value of {tokens[key]}"]
    title = f"Three vectors of {len(row.query)} dimensions, {place(layer, head)}"
    return strips([row.query, row.keys[key], row.values[key]], names, title=title)


def scaled_scores(traced: Trace, layer: int, head: int, query: int, key: int) -> Figure:
    """The scores of one query, divided by √d_k; of a long text the keys with the largest weights."""
    row, n = attention.attention_row(traced.layer(layer), head, query), len(traced)
    seen = [i for i in heaviest(row.weights, key, BARS) if np.isfinite(row.scaled[i])]
    part = "" if n <= BARS else f", the {len(seen)} keys of {n} with the largest weights"
    title = f"Scaled scores of query {traced.labels[query]}{part}"
    scale, marked = Scale("Score ÷ √d_k"), seen.index(key) if key in seen else None
    return bars([traced.labels[i] for i in seen], row.scaled[seen], scale, title=title, highlight=marked)


def local_scores(traced: Trace, layer: int, head: int, query: int, key: int) -> Figure:
    """The scaled scores of a local layer: what lies outside a query's window does not exist.

    Raises ValueError for a layer that sees all tokens.
    """
    window_of = traced.model.weights.layers[layer].window
    if window_of is None:
        raise ValueError(f"layer {layer + 1} of {traced.model.id} is not local: each query sees all tokens.")
    rows, columns = shown(traced, query, key)
    scaled, hidden = (
        traced.layer(layer).scaled_scores[head, rows, columns],
        HiddenCells(rows.start - columns.start, window_of),
    )
    title = f"Scaled scores and the window, {place(layer, head)}"
    sides = queries_and_keys(traced, rows, columns)
    return matrix_slice(scaled.numpy(), sides, Scale("Score ÷ √d_k"), title=title, hidden=hidden)


def weighted_values(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """Each value times its weight, and their sum, the context; of a long text the heaviest rows."""
    row = attention.attention_row(traced.layer(layer), head, query)
    drawn = heaviest(row.weights, key, min(len(traced), ROWS))
    vectors = [*(row.weighted_values[i] for i in drawn), row.context]
    names = [*(f"{row.weights[i]:.3f} × {traced.labels[i]}" for i in drawn), "context"]
    return strips(vectors, names, title=f"Weighted values and their sum, {place(layer, head)}")
