"""Attention: one head's map, a query's way from vectors to a context, the heads of a layer, and variants (bertplus)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads import comparing, one_row
from lab.analysis.heads.attention_variants import LINSCALE, NOSEP, RAW, REDUCED, SOFTMAX_SCALE, Variant, variant
from lab.analysis.heads.comparing import small_maps as smaller
from lab.analysis.heads.one_row import window
from lab.analysis.heads.values import is_causal
from lab.analysis.words.cut_by_hand import cut_words, without_special
from lab.analysis.words.word_groups import Words
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.charts.marks.bars import bars
from lab.figures.trace_axes import KEY, QUERY, WEIGHT, counted, queries_and_keys
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


TITLES = {
    RAW: "As it is",
    NOSEP: "Without special tokens",
    LINSCALE: "Rows made to sum to 1 again",
    SOFTMAX_SCALE: "Softmax taken once more",
    REDUCED: "Between words",
}
# Without special tokens, the remaining weights may all be small.
_ANY_WEIGHT = replace(WEIGHT, domain=None)


def words(traced: Trace, cut: str | None) -> Words:
    """Return the words of ``cut``, or the words that the tokenizer finds if ``cut`` is None.

    Raises :class:`lab.analysis.words.cut_by_hand.CutError`.
    """
    return without_special(traced.encoding) if cut is None else cut_words(traced.encoding, cut)


def of_head(traced: Trace, layer: int, head: int, name: str, cut: str | None = None) -> Variant:
    """Compute a variant of one head; layers and heads count from 0."""
    weights, groups = traced.layer(layer).attention[head].numpy(), words(traced, cut).groups
    return variant(name, weights, traced.encoding.special, groups, causal=traced.model.config.causal)


def labels(traced: Trace, name: str, cut: str | None = None) -> list[str]:
    """Return the names of a variant's rows: tokens with their position in the text, or words with their number."""
    if name == REDUCED:
        return [f"{i} · {label}" for i, label in enumerate(words(traced, cut).labels, start=1)]
    kept = [i for i, special in enumerate(traced.encoding.special) if name == RAW or not special]
    return [f"{i + 1} · {traced.labels[i]}" for i in kept]


def variant_map(
    traced: Trace, layer: int, head: int, name: str, cut: str | None = None, highest: float = 1.0
) -> Figure:
    """Draw a variant as a heatmap, with at most its first :data:`lab.figures.attention.MAP_TOKENS` rows and columns.

    ``highest`` is the weight at the upper end of the colour scale, which compared maps share.
    """
    found = of_head(traced, layer, head, name, cut)
    shown = labels(traced, name, cut)[:MAP_TOKENS]
    axes, scale = (Axis(QUERY, shown), Axis(KEY, shown)), replace(WEIGHT, domain=(0.0, highest))
    title, hidden = (
        f"{TITLES[name]} ({name}), {place(layer, head)}",
        HiddenCells(0) if traced.model.config.causal else None,
    )
    return matrix_slice(found.matrix[:MAP_TOKENS, :MAP_TOKENS], axes, scale, title=title, hidden=hidden)


def variant_of_all_heads(traced: Trace, layer: int, head: int, name: str, cut: str | None = None) -> SmallMaps:
    """Draw a variant of every head of a layer on one scale, with each head's removed mass; ``head`` is framed.

    In a long text, each cell has the largest weight of a block.
    """
    found = [of_head(traced, layer, each, name, cut) for each in range(traced.model.config.heads)]
    maps, block = smaller(np.stack([each.matrix for each in found]), CELLS)
    cells = block_names([label.split(" · ", 1)[1] for label in labels(traced, name, cut)], block)
    captions = [
        (label, f"{each.removed.mean():.0%} removed") for label, each in zip(head_labels(traced), found, strict=True)
    ]
    title, causal = f"{TITLES[name]} ({name}), layer {layer + 1}, all heads", traced.model.config.causal
    return small_maps(maps, cells, captions, _ANY_WEIGHT, title=title, causal=causal).framed(head)


def removed_mass(traced: Trace, layer: int, head: int, name: str, cut: str | None = None) -> Figure:
    """Draw the mass that rows lost to special tokens: all rows of a short text, the largest losses of a long text."""
    found, shown = of_head(traced, layer, head, name, cut), labels(traced, name, cut)
    most = sorted(np.argsort(-found.removed, kind="stable")[:BARS].tolist())
    part = "" if len(shown) <= BARS else f", the {BARS} rows of {len(shown)} that lost most"
    title, scale = f"Mass removed with the special tokens{part}", Scale("Share of the row")
    return bars([shown[i] for i in most], found.removed[most], scale, title=title)


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
