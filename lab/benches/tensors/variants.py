"""Attention variants: the attention without special tokens, rescaled, and between words; and what was removed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lab.analysis.heads.attention_variants import LINSCALE, NOSEP, RAW, REDUCED, SOFTMAX_SCALE, Variant, variant
from lab.analysis.words.cut_by_hand import CutError, cut_words, default_cut, separator
from lab.benches.tensors import ALL_HEADS, TensorView
from lab.course.words import escaped, quoted
from lab.figures.attention import MAP_TOKENS, TITLES, labels, of_head, removed_mass, variant_map, variant_of_all_heads
from lab.models.trace import Trace
from lab.ui import parameters
from lab.ui.drawing import code, draw
from lab.ui.taking import tell

_BOTH, _ALONE, _ALL = "Beside raw", "Alone", "All heads"
_MEANING = {
    RAW: "The weights as the model computes them. Each row sums to 1.",
    NOSEP: "Rows and columns of special tokens are left out. The other weights stay, so a row sums to less than 1.",
    LINSCALE: "Special tokens are left out, and each row is divided by its remaining sum, so it adds up to 1 again. "
    "If little is left in a row, small differences look large.",
    SOFTMAX_SCALE: (
        "Special tokens are left out, and a softmax is applied to the remaining weights. These weights are between 0 "
        "and 1, so no new weight is more than e ≈ 2.718 times another."
    ),
    REDUCED: (
        "The map shows words instead of tokens, and special tokens are left out. A word’s row is the mean of its "
        "tokens’ rows, and a word’s column is the sum of its tokens’ columns. Then each row is divided by its sum."
    ),
}


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
    told = removed(trace, (layer, head), found, cut)
    tell(f"{_MEANING[chosen]} {told}")
    st.markdown(told)
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
        "All maps share one scale. Above each map, you see the head and the share of its attention that is left out."
    )


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
            f"out. The first token, {quoted(trace.labels[0])}, is a word like the others and stays. On average, it "
            f"gets {first:.0%} of the attention. If a head attended to all tokens alike, it would get {even:.0%}. If "
            "the first token gets attention whatever word it is, it is called an attention sink (Xiao et al. 2024)."
        )
    if found.name == RAW:
        return "**Removed mass: 0.** Nothing is left out of the raw map."
    marked = zip(trace.labels, trace.encoding.special, strict=True)
    special = ", ".join(dict.fromkeys(quoted(token) for token, is_special in marked if is_special))
    worst = int(found.removed.argmax())
    name = labels(trace, found.name, cut)[worst].split(" · ", 1)[1]
    return (
        f"**Removed mass: {found.removed.mean():.1%}.** On average, the rows gave this share of their "
        f"attention to {special}, so it is not on the map. {quoted(name)} gave these tokens the most, "
        f"{found.removed[worst]:.1%}."
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
