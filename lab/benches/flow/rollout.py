"""Rollout: where a token's vector would come from if only attention weights counted."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow import maps
from lab.analysis.flow.maps import layer_maps
from lab.analysis.heads.one_row import window
from lab.analysis.heads.values import Weights
from lab.benches.flow import FlowView
from lab.course.pages import experiment_of
from lab.figures import flow
from lab.ui.drawing import code, draw
from lab.ui.screen import caption, meaning, way_to
from lab.ui.sentence import show_sentence

_MEASURED = " (lesson 8, Residual and LayerNorm, measures how much is added)"


def show(view: FlowView) -> None:
    """Draw the raw mean of the chosen layer beside the rollout after this layer."""
    show_sentence(view.trace, view.token)
    trace, layer, token, norms = view.trace, view.layer, view.token, view.norms
    raw, rolled = layer_maps(trace, None, norms=norms)[layer], maps.rollout_after(trace, layer, norms=norms)
    top = float(max(raw.max(), rolled.max()))
    left, right = st.columns(2)
    with left:
        draw(partial(flow.layer_alone, trace, layer, token, top, norms), "flow-raw")
    with right:
        draw(partial(flow.rolled_out, trace, layer, token, top, norms), "flow-rollout")
    n = len(trace)
    shown = window(token, n, flow.TOKENS)
    if n > flow.TOKENS:
        st.caption(f"The maps are {n} × {n}. You see tokens {shown.start + 1} to {shown.stop}, around the chosen one.")
    meaning(said(view, raw[view.token], rolled[view.token]))
    caption("Rollout says what could arrive, not what a prediction depends on.")
    with st.expander("The formula and its limits", icon=":material/function:"):
        st.latex(r"R_\ell = \hat A_\ell\, R_{\ell-1}, \quad R_0 = I")
        st.latex(r"(\hat A_\ell)_{ij} = \frac{(A_\ell + I)_{ij}}{\sum_k (A_\ell + I)_{ik}}")
        st.markdown(limits(view.norms))
    way_to("The experiment", experiment_of("explanation"))
    code(maps.with_residual, maps.rollout)


def said(view: FlowView, raw: Weights, rolled: Weights) -> str:
    """State the row of the chosen token in both matrices, in numbers."""
    others = np.where(np.arange(len(rolled)) == view.token, -1, rolled)
    other = int(others.argmax())
    kept = f"{view.name(view.token)} keeps **{rolled[view.token]:.2f}** of itself"
    if len(rolled) > 1:
        return (
            f"After all layers up to this one, {view.name(other)} contributes most to "
            f"{view.name(view.token)}, with a share of **{rolled[other]:.2f}**. In layer {view.layer + 1} alone, its "
            f"share is {raw[other]:.2f}. {kept}."
        )
    return f"In rollout, {kept}."


def limits(norms: bool) -> str:
    """State what rollout leaves out."""
    if norms:
        return (
            "If lengths replace the weights, the values and $W_O$ count, too (Kobayashi et al. 2020). But "
            "rollout still leaves out the feed-forward networks, and it counts two vectors in full even if they "
            f"cancel each other. It also gives half to the residual path, whatever the model does{_MEASURED}."
        )
    return (
        "Rollout (Abnar & Zuidema 2020) follows attention weights over all paths. It gives half to the "
        f"residual path, whatever the model does{_MEASURED}. It leaves out the values, $W_O$ and the feed-forward "
        "networks."
    )
