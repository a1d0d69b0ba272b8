"""Attention variants: the attention without special tokens, rescaled, and between words; and what was removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.comparing import small_maps as smaller
from lab.analysis.heads.variants import LINSCALE, NOSEP, RAW, REDUCED, SOFTMAX_SCALE, Variant, variant
from lab.analysis.words.cuts import CutError, cut_words, default_cut, separator, without_special
from lab.analysis.words.words import Words
from lab.benches.tensors import ALL_HEADS, TensorView
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.charts.marks.bars import bars
from lab.course.words import escaped, quoted
from lab.figures.attention import BARS, MAP_TOKENS, place
from lab.figures.axes import KEY, QUERY, WEIGHT
from lab.figures.multi_head import CELLS, head_labels
from lab.models.trace import Trace
from lab.ui import parameters
from lab.ui.drawing import code, draw

_BOTH, _ALONE, _ALL = "Beside raw", "Alone", "All heads"
TITLES = {
    RAW: "As it is",
    NOSEP: "Without special tokens",
    LINSCALE: "Rows made to sum to 1 again",
    SOFTMAX_SCALE: "Softmax taken once more",
    REDUCED: "Between words",
}
_MEANING = {
    RAW: "The weights as the model computes them. Each row sums to 1.",
    NOSEP: "Rows and columns of special tokens are left out. The other weights stay, so a row sums to less than 1.",
    LINSCALE: "Special tokens are left out, and each row is divided by its remaining sum, so it adds up to 1 again. "
    "If little is left in a row, small differences look large.",
    SOFTMAX_SCALE: (
        "Special tokens are left out, and a softmax is applied to the remaining weights. These are between 0 and 1, "
        "so no new weight is more than e ≈ 2.718 times another."
    ),
    REDUCED: (
        "The map shows words instead of tokens, and special tokens are left out. A word’s row is the mean of its "
        "tokens’ rows, a word’s column the sum of its tokens’ columns; then each row is divided by its sum."
    ),
}
# Without special tokens, the remaining weights may all be small.
_ANY_WEIGHT = replace(WEIGHT, domain=None)


def words(traced: Trace, cut: str | None) -> Words:
    """Return the words of ``cut``, or the words that the tokenizer finds if ``cut`` is None.

    Raises :class:`lab.analysis.words.cuts.CutError`.
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


def warning(raw: Variant, found: Variant) -> str:
    """Say by which factor the weights of a row differ, before the second softmax and after it."""
    before = (
        "without bound, because one is 0" if raw.spread == float("inf") else (f"by a factor of up to {raw.spread:,.0f}")
    )
    return (
        f"softmax\\_scale flattens every head. Within one row of the raw map, the weights differ {before}; here the "
        f"largest is at most {found.spread:.2f} times the smallest."
    )


def removed(trace: Trace, place: tuple[int, int], found: Variant, cut: str | None) -> str:
    """Say which mass the rows lost to special tokens, and which row lost most."""
    if not any(trace.encoding.special):
        first = trace.layer(place[0]).attention[place[1]][:, 0].mean().item()
        even = sum(1 / (i if trace.model.config.causal else len(trace)) for i in range(1, len(trace) + 1)) / len(trace)
        return (
            f"**Removed mass: 0.** {escaped(trace.model.id)} puts no special tokens around a text, so nothing is left "
            f"out. The first token, {quoted(trace.labels[0])}, is a word like the others and stays. On average it gets "
            f"{first:.0%} of the attention; from a head that attends to all tokens alike it would get {even:.0%}. If "
            "the first token gets attention whatever word it is, it is called an attention sink (Xiao et al. 2024)."
        )
    if found.name == RAW:
        return "**Removed mass: 0.** Nothing is left out of the raw map."
    marked = zip(trace.labels, trace.encoding.special, strict=True)
    special = ", ".join(dict.fromkeys(quoted(token) for token, is_special in marked if is_special))
    worst = int(found.removed.argmax())
    name = labels(trace, found.name, cut)[worst].split(" · ", 1)[1]
    return (
        f"**Removed mass: {found.removed.mean():.1%}.** On average, this share of the attention went to {special} and "
        f"is not on the map. {quoted(name)} gave these tokens most: {found.removed[worst]:.1%}."
    )


def show(view: TensorView) -> None:
    """Draw the chosen head, raw and in the chosen variant, on one colour scale; or draw every head of its layer."""
    trace, layer, head = view.trace, view.layer, view.head
    chosen, maps = _choose_variant()
    st.markdown(f"**{TITLES[chosen]}** ({escaped(chosen)}). {_MEANING[chosen]}")
    cut = _choose_words(trace) if chosen == REDUCED else None
    raw, found = (of_head(trace, layer, head, name, cut) for name in (RAW, chosen))
    if maps == _ALL:
        _show_all(trace, (layer, head), chosen, cut)
    else:
        _show_one(trace, (layer, head), (found,) if maps == _ALONE or chosen == RAW else (raw, found), cut)
    if chosen == SOFTMAX_SCALE:
        st.warning(warning(raw, found), icon=":material/horizontal_rule:")
    st.markdown(removed(trace, (layer, head), found, cut))
    if any(trace.encoding.special) and found.name != RAW:
        draw(partial(removed_mass, trace, layer, head, found.name, cut), "removed-mass")
    code(variant)


def _show_one(trace: Trace, place: tuple[int, int], shown: Sequence[Variant], cut: str | None) -> None:
    """Draw the chosen head in one variant, or in two variants beside each other."""
    highest = max(float(each.matrix.max()) for each in shown) or 1.0
    for column, each in zip(st.columns(len(shown)), shown, strict=True):
        with column:
            name, beside = each.name, each is not shown[-1]
            call = partial(variant_map, trace, *place, name, cut if name == REDUCED else None, highest)
            draw(call, "variant-beside" if beside else f"variant-{name}")
    largest = max(len(each.matrix) for each in shown)
    if largest > MAP_TOKENS:
        st.caption(f"The first {MAP_TOKENS} of {largest} rows and columns are drawn.")


def _show_all(trace: Trace, place: tuple[int, int], name: str, cut: str | None) -> None:
    """Draw every head of the layer in one variant; a click chooses the head."""
    draw(partial(variant_of_all_heads, trace, *place, name, cut), ALL_HEADS, clickable=True)
    st.caption(
        "All maps share one scale. Above each map you see its head, and the share of its attention that is left out."
    )


def _choose_variant() -> tuple[str, str]:
    """Let the learner choose the variant and the heads to draw: one beside its raw map, one alone, or all."""
    with st.container(horizontal=True):
        chosen = parameters.VARIANT.choose(
            "Variant",
            help="The names in brackets below come from bertplus, a part of TransEasy, a set of Python tools for BERT.",
        )
        maps = st.segmented_control("Maps", [_BOTH, _ALONE, _ALL], default=_BOTH, required=True, key="_variant_maps")
    return parameters.VARIANTS[chosen], maps


def _choose_words(trace: Trace) -> str | None:
    """Return the learner's cut of the text into words if it fits the text; None for the tokenizer's own words."""
    sign, own = separator(trace.encoding), default_cut(trace.encoding)
    with st.expander("Cut the words yourself", icon=":material/content_cut:"):
        typed = parameters.WORD_CUT.area(
            f"The text with {sign} between words; leave it empty for the tokenizer’s own words",
            80,
            placeholder=own[:200],
        )
        st.button(
            "Start from the tokenizer’s words", on_click=parameters.WORD_CUT.set, args=(own,), icon=":material/edit:"
        )
        if not typed.strip():
            return None
        try:
            cut_words(trace.encoding, typed)
        except CutError as error:
            st.warning(f"{escaped(str(error))} You see the tokenizer’s own words.", icon=":material/content_cut:")
            return None
    return typed
