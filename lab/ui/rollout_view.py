"""Rollout on screen: where a token's vector would come from if attention weights were all that counts."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis import rollout
from lab.analysis.attention import window
from lab.analysis.heads import Weights, is_causal
from lab.charts.heatmap import Heatmap, heatmap
from lab.models.trace import Trace
from lab.ui import cached_flow
from lab.ui.attention_steps import choose_token
from lab.ui.figures import code, draw
from lab.ui.flow_view import FlowView

# Two maps side by side: more cells than this in each make a browser slow.
_TOKENS = 72


def show_rollout(view: FlowView) -> None:
    """The raw mean of the chosen layer, beside the rollout after it."""
    choose_token(view.trace, "token", "Token: whose row is framed", view.token)
    depth = view.layer.index + 1
    raw = cached_flow.layer_maps(view.trace, None, view.norms)[view.layer.index]
    rolled = cached_flow.rollout(view.trace, depth, view.norms)
    top = float(max(raw.max(), rolled.max()))
    what = "Contribution norms" if view.norms else "Mean attention"
    left, right = st.columns(2)
    with left:
        draw(_map(view, raw, f"{what} of layer {depth} alone", view.value, top), "flow-raw")
    with right:
        title = "Rollout after layer 1" if depth == 1 else f"Rollout after layers 1 to {depth}"
        draw(_map(view, rolled, title, "Rollout", top), "flow-rollout")
    n = len(view.trace)
    shown = window(view.token, n, _TOKENS)
    if n > _TOKENS:
        st.caption(
            f"The maps are {n} × {n}. Drawn are tokens {shown.start + 1} to {shown.stop}, around the chosen one."
        )
    _say_row(view, raw[view.token], rolled[view.token])
    st.latex(r"R_\ell = \hat A_\ell\, R_{\ell-1}, \quad R_0 = I")
    st.latex(r"(\hat A_\ell)_{ij} = \frac{(A_\ell + I)_{ij}}{\sum_k (A_\ell + I)_{ik}}")
    _say_limits(view.norms)
    code(rollout.with_residual, rollout.rollout)


def _map(view: FlowView, values: Weights, title: str, value_title: str, top: float) -> Heatmap:
    """One of the two maps, or its part around the chosen token; both on one scale of colours."""
    trace: Trace = view.trace
    shown = window(view.token, len(trace), _TOKENS)
    return heatmap(
        values[shown, shown], trace.tokens[shown], trace.tokens[shown], title=title, row_title="Receives",
        column_title="Comes from", value_title=value_title, domain=(0.0, top),
        highlight=(view.token - shown.start, None), causal=is_causal(trace), numbered=len(trace) <= _TOKENS,
    )  # fmt: skip


def _say_row(view: FlowView, raw: Weights, rolled: Weights) -> None:
    """The chosen token's row in both, in numbers."""
    others = np.where(np.arange(len(rolled)) == view.token, -1, rolled)
    other = int(others.argmax())
    text = f"Rollout gives {view.name(view.token)} **{rolled[view.token]:.4f}** of itself"
    if len(rolled) > 1:
        text += (
            f", and of the others most from {view.name(other)}, **{rolled[other]:.4f}**; the layer "
            f"alone has {raw[other]:.4f} there"
        )
    st.markdown(f"{text}. The row adds up to {rolled.sum():.4f}, as every row does.")


def _say_limits(norms: bool) -> None:
    if norms:
        st.markdown(
            "Lengths in place of weights take in the values and $W_O$ (Kobayashi et al. 2020). The feed-forward "
            "networks are still left out, vectors that cancel each other count in full, and the residual path gets "
            "half by decree. It says what could arrive, not what a prediction rests on."
        )
    else:
        st.markdown(
            "Rollout follows weights over all paths and gives the residual path half. It knows nothing of the values, "
            "of $W_O$ or of the feed-forward networks: it says what could arrive, not what a prediction rests on."
        )
