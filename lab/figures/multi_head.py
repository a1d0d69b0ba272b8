"""Multi-head attention: the heads of a layer side by side, the sum of their vectors, and the distance of two heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lab.analysis.heads import comparing
from lab.analysis.heads.values import is_causal
from lab.charts.base.axes import Axis
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.figures.trace_axes import WEIGHT, counted
from lab.models.trace import Trace

CELLS = 48  # cells per side of a small map; sixteen maps of this size are still light


def head_labels(traced: Trace) -> list[str]:
    """The heads of a layer, counted from 1."""
    return [f"Head {head + 1}" for head in range(traced.model.config.heads)]


def maps_of(
    traced: Trace,
    layer: int,
    captions: Sequence[tuple[str, str]],
    title: str,
    heads: Sequence[int] | None = None,
    cells: int = CELLS,
) -> tuple[SmallMaps, int]:
    """All or some heads of a layer as small maps on one scale, and the number of tokens per side of a cell.

    A map has at most ``cells`` per side.
    """
    attention = traced.layer(layer).attention
    maps, block = comparing.small_maps(attention if heads is None else attention[list(heads)], cells)
    names = block_names(traced.labels, block)
    figure = small_maps(maps, names, captions, WEIGHT, title=title, causal=is_causal(traced))
    query = Axis("Query", names, 1 if block == 1 else None, things="tokens", count=len(traced))
    return replace(figure, axes=(figure.axes[0], query, replace(query, title="Key"))), block


def all_heads(traced: Trace, layer: int, head: int, query: int, cells: int = CELLS) -> SmallMaps:
    """Draw every head of a layer on one scale, with the token at which it looks most from ``query``.

    ``head`` is framed, and the row of ``query`` in every map. In a long text, a cell has the largest weight of a block
    of tokens, so that a map has at most ``cells`` per side.
    """
    best = traced.layer(layer).attention[:, query].argmax(dim=-1).tolist()
    captions = [(label, f"→ {traced.labels[key]}") for label, key in zip(head_labels(traced), best, strict=True)]
    figure, block = maps_of(traced, layer, captions, f"All heads of layer {layer + 1}", cells=cells)
    named = replace(figure, axes=(counted("Head", len(best)), *figure.axes[1:]))
    return named.framed(head, query // block)
