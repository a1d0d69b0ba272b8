"""Two heads compared, and any number of heads: two screens of the multi-head lesson."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.values import Values
from lab.course.words import escaped
from lab.figures import multi_head
from lab.lessons.multi_head_attention import LESSON, checks, meanings
from lab.lessons.multi_head_attention.screens import draw_all
from lab.toy.recut import recut
from lab.toy.settings import divisors
from lab.ui import selection
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import CONSTRUCTED, MODE, OTHER_HEAD, RANDOM, TOY, TOY_WEIGHTS
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead, draw_map
from lab.ui.tables import show_table
from lab.ui.terms import say

_ONE_HEAD = "This model has one head in a layer, so there is no other head to compare it with."
_CUTS = 9  # rows of the table


def _other_head(view: OneHead) -> int:
    """The head to compare with, from 0; if possible, another head than the chosen head."""
    config = view.trace.model.config
    if selection.asks(OTHER_HEAD, view.head + 1):
        selection.note(f"Head {view.head + 1} cannot be compared with itself; choose another head.")
    selection.fit(OTHER_HEAD, config.heads, view.trace.model.id)
    others = [head for head in range(1, config.heads + 1) if head != view.head + 1]
    return OTHER_HEAD.choose("Compare with head", others, others[0]) - 1


def show_two(view: OneHead) -> None:
    """Show two maps on one scale, their difference, and one number for the difference."""
    trace, layer = view.trace, view.layer
    if trace.model.config.heads < 2:
        st.info(_ONE_HEAD, icon=":material/info:")
        return
    other = _other_head(view)
    apart = comparing.layer_divergence(trace, layer.index)
    for column, head in zip(st.columns(2), (view.head, other), strict=True):
        with column:
            draw_map(
                replace(view, head=head), trace, f"Head {head + 1}", f"map-{'one' if head == view.head else 'two'}"
            )
    if np.isnan(apart).any():
        st.info("A single token has no other token to look at. Write a longer sentence.", icon=":material/edit:")
    else:
        meaning(meanings.two(trace, layer.index, view.head, other))
        _try_another(view, other)
        with st.expander("All pairs of this layer, and the formula", on_change="rerun", key="_pairs") as pairs:
            if pairs.open:
                draw(partial(multi_head.divergence, trace, layer.index, view.head, other), "divergence")
                _show_divergence(view, other, apart)
    code(comparing.row_divergence, comparing.head_divergence)


def _try_another(view: OneHead, other: int) -> None:
    """Offer the head that differs most from the chosen head; from there, the head that is most like it."""
    apart = comparing.layer_divergence(view.trace, view.layer.index)[view.head]
    if len(apart) < 3:
        return
    far = meanings.least_like(view.trace, view.layer.index, view.head)
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
        "The number is the **Jensen–Shannon divergence** of two rows p and q, averaged over all rows. It is 0 for "
        "equal rows, and ln 2 ≈ 0.69 if no key has weight in both."
    )
    st.latex(
        r"\begin{aligned} \text{JSD}(p, q) = {} & \text{entropy}\left(\tfrac{p + q}{2}\right) \\"
        r"& - \tfrac12\,\text{entropy}(p) - \tfrac12\,\text{entropy}(q) \end{aligned}"
    )
    say(
        "The **entropy** of a row is −Σ w · ln w over its weights w. Logarithms are natural in this lab, so the unit "
        f"is the **nat**. Heads {view.head + 1} and {other + 1} are **{apart[view.head, other]:.2f}** nats apart; "
        f"their rows of {view.token(int(rows.argmax()))} differ most, by {rows.max():.2f} nats."
    )


def show_count(view: OneHead) -> None:
    """Show that the number of parameters of a layer does not depend on its number of heads."""
    trace, config = view.trace, view.trace.model.config
    question = checks.parameters(config, 1)
    if not predict(LESSON, question):
        return
    d, counted = config.width, comparing.counted_parameters(view.layer, config)
    number = f"{comparing.attention_parameters(config):,}".replace(",", "{,}")
    each, own = ("(d + 1)", d + 1) if config.biases else ("d", d)
    st.latex(rf"4 \cdot d\,{each} = 4 \cdot {d} \cdot {own} = {number}")
    with_biases = " with their biases" if config.biases else ""
    say(
        f"These are $W_Q$, $W_K$, $W_V$ and $W_O${with_biases} in a layer of {escaped(trace.model.id)}, which has "
        f"**{counted:,}** such numbers. The number of heads H is not in the formula: with twice as many heads, "
        "each head is half as wide."
    )
    _show_cuts(view)
    if view.page.selection[MODE] == TOY:
        _show_toy_cut(view, counted)


def _show_toy_cut(view: OneHead, counted: int) -> None:
    """Show the random toy with the sidebar's number of heads, or say why the number of other toys is fixed."""
    heads, weights = view.trace.model.config.heads, view.page.selection[TOY_WEIGHTS]
    if weights == RANDOM:
        say(
            f"The weights of the toy are cut into {heads} heads. Change **Heads** in the sidebar, and "
            f"look at the maps. The {counted:,} numbers stay the same."
        )
        draw_all(view)
        code(recut)
        return
    made = "written by hand for" if weights == CONSTRUCTED else "trained in"
    say(
        f"The weights of this toy were {made} {heads} heads, so they cannot be cut in another way. Choose **Random** "
        "in the sidebar to cut a toy’s weights into another number of heads."
    )


def _show_cuts(view: OneHead) -> None:
    config, n = view.trace.model.config, len(view.trace)
    d, own = config.width, config.heads
    cuts = divisors(d)
    near = sorted(cuts, key=lambda cut: max(cut / own, own / cut))[:_CUTS]
    table = pd.DataFrame(
        [
            {
                "": "this model" if cut == own else "",
                "heads H": cut,
                "width d_k = d / H": d // cut,
                "a head’s W_Q": f"{d} × {d // cut}",
                "a head’s rows of W_O": f"{d // cut} × {d}",
                "parameters": comparing.attention_parameters(config),
                "attention weights": cut * n * n,
            }
            for cut in sorted({1, *near})
        ]
    )
    numbers = dict.fromkeys(table.columns[-2:], "localized")
    show_table(table, formats=numbers)
    say(
        f"Only the number of attention weights grows with H: H × {n} × {n} for this text. H must divide d = {d}, so "
        "that all heads are equally wide."
    )
