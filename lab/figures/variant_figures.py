"""Attention without special tokens, rescaled, and between words (bertplus' variants); and what was removed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lab.analysis.heads.attention_variants import LINSCALE, NOSEP, RAW, REDUCED, SOFTMAX_SCALE, Variant, variant
from lab.analysis.heads.comparing import small_maps as smaller
from lab.analysis.words.cut_by_hand import cut_words, without_special
from lab.analysis.words.word_groups import Words
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.charts.marks.bars import bars
from lab.figures.attention import BARS, MAP_TOKENS, place
from lab.figures.multi_head import CELLS, head_labels
from lab.figures.trace_axes import KEY, QUERY, WEIGHT
from lab.models.trace import Trace

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
