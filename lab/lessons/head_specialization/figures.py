"""The map of a head as it is judged at a relation of grammar; layers, heads and places count from 0."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads import attention as analysis
from lab.analysis.heads.values import Values
from lab.charts.base.axes import Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.figures.attention import MAP_TOKENS, place, shown
from lab.figures.axes import queries_and_keys
from lab.models.trace import Trace


def to_others(traced: Trace, layer: int, head: int) -> Values:
    """What each token gives the others, as shares of it, (n, n): nothing to special tokens, nor to itself."""
    weights = analysis.attention_map(traced.layer(layer), head).astype(np.float64)
    special = np.asarray(traced.encoding.special, dtype=bool)
    weights[special] = 0
    weights[:, special] = 0
    np.fill_diagonal(weights, 0)
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)


def others_map(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """What each token gives the others, as shares of it; the pair (``query``, ``key``) is outlined."""
    rows, columns = shown(traced, query, key)
    outlined = query - rows.start, key - columns.start
    return heatmap(
        to_others(traced, layer, head)[rows, columns],
        queries_and_keys(traced, rows, columns),
        Scale("Share", (0.0, 1.0)),
        title=f"What goes to other words, {place(layer, head)}",
        highlight=outlined,
        causal=traced.model.config.causal and len(traced) <= MAP_TOKENS,
    )
