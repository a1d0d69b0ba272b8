"""Multi-head attention: the heads of a layer side by side, what they add up to, and how far two are apart."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads import comparing as analysis
from lab.analysis.heads.attention import attention_map, window
from lab.analysis.heads.named import MIXED, trace_names
from lab.analysis.heads.patterns import PATTERNS
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.charts.cells.strips import strips
from lab.charts.marks.bars import bars
from lab.models.trace import Trace

CELLS = 48  # a side of a small map; sixteen of them stay light
COLUMNS = 96  # tokens that a wide map shows


def counted(count: int) -> list[str]:
    """Labels of layers or heads: numbers from 1."""
    return [str(i + 1) for i in range(count)]


def head_labels(traced: Trace) -> list[str]:
    """The heads of a layer, counted from 1."""
    return [f"Head {head + 1}" for head in range(traced.model.config.heads)]


def all_heads(traced: Trace, layer: int, head: int, query: int) -> SmallMaps:
    """Every head of a layer on one scale, with the pattern it is named after; ``head`` and ``query`` are framed.

    Of a long text, a cell is the largest weight of a block of tokens.
    """
    found = trace_names(traced)[layer].tolist()
    maps, block = analysis.small_maps(traced.layer(layer).attention, CELLS)
    names = {pattern.id: pattern.name.lower() for pattern in PATTERNS} | {MIXED: MIXED}
    return small_maps(
        maps, traced.labels if block == 1 else block_names(len(traced), block),
        list(zip(head_labels(traced), [names[name] for name in found], strict=True)),
        title=f"All heads of layer {layer + 1}", value_title="Weight", domain=(0.0, 1.0), highlight=head,
        row=query // block, causal=traced.model.config.causal,
    )  # fmt: skip


def unnamed_heads(traced: Trace, layer: int) -> SmallMaps:
    """Every head of a layer, none named and none framed: for who is asked which of them does something."""
    maps, block = analysis.small_maps(traced.layer(layer).attention, CELLS)
    return small_maps(
        maps, traced.tokens if block == 1 else block_names(len(traced), block),
        [(label, f"layer {layer + 1}") for label in head_labels(traced)], title=f"All heads of layer {layer + 1}",
        value_title="Weight", domain=(0.0, 1.0), causal=traced.model.config.causal,
    )  # fmt: skip


def concatenation(traced: Trace, layer: int, head: int, token: int) -> Heatmap:
    """The heads' contexts of one token laid side by side, and the dimensions that are ``head``'s alone."""
    concat, d_k = traced.layer(layer).context_concat[token].numpy(), traced.model.config.head_width
    own, mine = np.zeros_like(concat), slice(head * d_k, (head + 1) * d_k)
    own[mine] = concat[mine]
    return strips(
        [concat, own], ["concat", f"head {head + 1}"], value_title="Value",
        title=f"The heads side by side, layer {layer + 1}",
    )  # fmt: skip


def heads_add_up(traced: Trace, layer: int, token: int) -> Heatmap:
    """What each head adds to one token, the bias if there is one, their sum, and the layer's own attention output."""
    added = analysis.head_sum(traced.layer(layer))
    bias = {"bias": added.bias} if traced.model.config.biases else {}
    return strips(
        [*added.parts[:, token], *bias.values(), added.total[token], added.output[token]],
        [*(name.lower() for name in head_labels(traced)), *bias, "sum", "layer"],
        title=f"What each head adds to {traced.labels[token]}, layer {layer + 1}", value_title="Value",
    )  # fmt: skip


def added_lengths(traced: Trace, layer: int, head: int, token: int) -> Figure:
    """The length of what each head adds to one token."""
    added = analysis.head_sum(traced.layer(layer))
    return bars(
        head_labels(traced), added.norms[:, token], value_title="Euclidean norm", highlight=head,
        title=f"Length of what each head adds to {traced.labels[token]}",
    )  # fmt: skip


def added_lengths_by_token(traced: Trace, layer: int, head: int, token: int) -> Heatmap:
    """The length of what each head adds to each token; of a long text to those around ``token``."""
    norms, shown = analysis.head_sum(traced.layer(layer)).norms, window(token, len(traced), COLUMNS)
    return heatmap(
        norms[:, shown], counted(len(norms)), traced.labels[shown],
        title=f"Length of what each head adds, layer {layer + 1}", row_title="Head", column_title="Token",
        value_title="Euclidean norm", highlight=(head, token - shown.start), value_format=".2f",
    )  # fmt: skip


def difference(traced: Trace, layer: int, head: int, other: int, query: int = 0, key: int = 0) -> Heatmap:
    """The weights of ``head`` less those of ``other``; of a long text around ``query`` and ``key``."""
    n, at = len(traced), traced.layer(layer)
    rows, columns = window(query, n, COLUMNS), window(key, n, COLUMNS)
    return heatmap(
        (attention_map(at, head) - attention_map(at, other))[rows, columns], traced.labels[rows],
        traced.labels[columns], title=f"Head {head + 1} − head {other + 1}", row_title="Query (attends)",
        column_title="Key (attended to)", value_title="Difference", scale="diverging", domain=(-1.0, 1.0),
        highlight=(query - rows.start, None), causal=traced.model.config.causal and n <= COLUMNS, value_format="+.2f",
    )  # fmt: skip


def divergence(traced: Trace, layer: int, head: int, other: int) -> Heatmap:
    """How far the heads of a layer are apart, in nats. Raises ValueError for a single token, which has no choice."""
    apart = analysis.layer_divergence(traced, layer)
    labels = counted(len(apart))
    return heatmap(
        apart, labels, labels, title=f"How far the heads of layer {layer + 1} are apart", row_title="Head",
        column_title="Other head", value_title="Divergence in nats", domain=(0.0, analysis.MOST_APART),
        highlight=(head, other), value_format=".2f", numbered=False,
    )  # fmt: skip
