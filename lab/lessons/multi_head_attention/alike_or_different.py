"""Alike or different: two heads of a layer side by side, and one number for their distance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.values import Values
from lab.figures import multi_head
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import OTHER_HEAD
from lab.ui.shared.one_head import OneHead, draw_map, show_sentence
from lab.ui.terms import say

_ONE_HEAD = "Each layer of this model has only one head, so there is no other head to compare it with."
_ALONE = "A single token can attend only to itself. Write a longer sentence."


def said(trace: Trace, layer: int, head: int, other: int) -> str:
    """Say how far apart two heads are, and how far apart all pairs of heads in the layer are."""
    apart = comparing.layer_divergence(trace, layer)
    if np.isnan(apart).any():
        return _ALONE
    pairs = np.array([apart[pair] for pair in combinations(range(len(apart)), 2)])
    own = float(apart[head, other])
    told = f"Heads {head + 1} and {other + 1} are **{own:.2f}** apart."
    if len(pairs) == 1:
        return f"{told} They are the only two heads of this layer."
    if own <= pairs.min():
        return f"{told} No two heads of this layer are more alike. The most different pair is {pairs.max():.2f} apart."
    if own >= pairs.max():
        return f"{told} No two heads of this layer differ more. The most similar pair is {pairs.min():.2f} apart."
    return f"{told} Pairs of heads in this layer are between {pairs.min():.2f} and {pairs.max():.2f} apart."


def least_like(trace: Trace, layer: int, head: int) -> int:
    """The head of the layer that differs most from ``head``, in a layer with at least two heads and without nan."""
    return int(comparing.layer_divergence(trace, layer)[head].argmax())


def _choose_other(view: OneHead) -> int:
    """The head to compare with, from 0; if possible, another head than the chosen head."""
    config = view.trace.model.config
    if selection.asks(OTHER_HEAD, view.head + 1):
        selection.note(f"Head {view.head + 1} cannot be compared with itself. Choose another head.")
    selection.fit(OTHER_HEAD, config.heads, view.trace.model.id)
    others = [head for head in range(1, config.heads + 1) if head != view.head + 1]
    with sidebar.controls():
        return OTHER_HEAD.choose("Compare with head", others, others[0]) - 1


def show(view: OneHead) -> None:
    """Show two maps on one scale, and one number for their difference."""
    trace, layer = view.trace, view.layer
    if trace.model.config.heads < 2:
        st.info(_ONE_HEAD, icon=":material/info:")
        return
    other = _choose_other(view)
    say(
        "Do two heads of a layer look at the same words? Put their maps side by side. One number says how far apart "
        "they are: the **Jensen–Shannon divergence**. It is 0 if both maps are equal, and 0.69 (ln 2) if the heads "
        "never look at the same word."
    )
    show_sentence(view)
    apart = comparing.layer_divergence(trace, layer.index)
    for column, head in zip(st.columns(2), (view.head, other), strict=True):
        with column:
            draw_map(
                replace(view, head=head), trace, f"Head {head + 1}", f"map-{'one' if head == view.head else 'two'}"
            )
    if np.isnan(apart).any():
        st.info("A single token has no other token to look at. Write a longer sentence.", icon=":material/edit:")
    else:
        meaning(said(trace, layer.index, view.head, other))
        _show_another(view, other)
        with st.expander("All pairs of this layer, and the formula", on_change="rerun", key="_pairs") as pairs:
            if pairs.open:
                draw(partial(multi_head.divergence, trace, layer.index, view.head, other), "divergence")
                _show_divergence(view, other, apart)
    code(comparing.row_divergence, comparing.head_divergence)


def _show_another(view: OneHead, other: int) -> None:
    """Offer the head that differs most from the chosen head; from there, the head that is most like it."""
    apart = comparing.layer_divergence(view.trace, view.layer.index)[view.head]
    if len(apart) < 3:
        return
    far = least_like(view.trace, view.layer.index, view.head)
    near = min((head for head in range(len(apart)) if head != view.head), key=lambda head: float(apart[head]))
    there, how = (near, "most") if other == far else (far, "least")
    try_this(
        f"head {there + 1} is {how} like head {view.head + 1}. Can you see that in the maps?",
        f"Compare with head {there + 1}",
        {OTHER_HEAD: there + 1},
    )


def _show_divergence(view: OneHead, other: int, apart: Values) -> None:
    layer = view.layer
    rows = comparing.row_divergence(attention_map(layer, view.head), attention_map(layer, other))
    say(
        "The **Jensen–Shannon divergence** of two rows p and q is averaged over all rows. It is 0 for "
        "equal rows, and ln 2 ≈ 0.69 if no key has weight in both."
    )
    st.latex(
        r"\begin{aligned} \text{JSD}(p, q) = {} & \text{entropy}\left(\tfrac{p + q}{2}\right) \\"
        r"& - \tfrac12\,\text{entropy}(p) - \tfrac12\,\text{entropy}(q) \end{aligned}"
    )
    say(
        "The **entropy** of a row is −Σ w · ln w over its weights w. This lab uses natural logarithms, so the unit "
        f"is the **nat**. Heads {view.head + 1} and {other + 1} are **{apart[view.head, other]:.2f}** nats apart. "
        f"Their rows for {view.token(int(rows.argmax()))} differ most, by {rows.max():.2f} nats."
    )
