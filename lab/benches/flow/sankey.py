"""Sankey: the strongest links of all layers as bands."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow.influence import Reading, links
from lab.analysis.flow.maps import Links, strongest_links
from lab.benches.flow import FlowView, choose_residual, choose_words
from lab.course.words import percent
from lab.figures import flow
from lab.ui import parameters, selection
from lab.ui.drawing import code, draw_sankey
from lab.ui.screen import meaning


def show(view: FlowView) -> None:
    """Draw the strongest links of all layers, with the controls of the diagram below."""
    st.markdown("A band runs from a token on the left to the token on the right that looks at it.")
    figure = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = _choose_source(view)
        words_only = choose_words()
    with st.expander("More controls", icon=":material/tune:"):
        threshold, most, residual = _choose_more()
    read = Reading(view.head, view.norms, residual, words_only)
    found = links(view.trace, read, threshold, most, source)
    with figure:
        if len(found) == 0:
            st.info(said_of_none(view, read, threshold, source), icon=":material/filter_alt:")
            return
        draw_sankey(partial(flow.attention_flow, view.trace, read, threshold, most, source), "flow-sankey")
        meaning(said(view, found, threshold, source))
    code(strongest_links)


def said(view: FlowView, links: Links, threshold: float, source: int | None) -> str:
    """Say where the widest band leads, and which share of all links is drawn."""
    top = int(links.weight.argmax())
    start, end = view.name(int(links.key[top])), view.name(int(links.query[top]))
    some = "All" if len(links) == links.reaching else f"{len(links)} of"
    paths = "" if source is None else f" on paths from {view.name(source)}"
    return (
        f"The widest band leads from {start} to {end} in layer {links.layer[top] + 1}: **{links.weight[top]:.2f}**. "
        f"{some} {links.reaching:,} links{paths} with a weight of at least {threshold:g} are drawn. They carry "
        f"**{percent(float(links.mass))}** of what all tokens receive in all layers."
    )


def said_of_none(view: FlowView, read: Reading, threshold: float, source: int | None) -> str:
    """Say why no link is drawn, and name the strongest link, so that the learner can find a threshold."""
    maps, keep = read.maps(view.trace), read.keep(view.trace)
    rows = np.ones(len(view.trace), dtype=np.bool_) if keep is None else keep
    if source is not None and not rows[source]:
        return f"The figure leaves out {view.name(source)}. Choose another token, or all tokens."
    seen = maps[:, rows][:, :, rows] if source is None else maps[:1, rows][:, :, [source]]
    where = "No link" if source is None else f"In layer 1 no link from {view.name(source)}"
    return (
        f"{where} reaches the threshold {threshold:g}. The strongest link has the weight {seen.max():.4f}. "
        "Choose a lower threshold."
    )


def _choose_more() -> tuple[float, int, bool]:
    """Draw the choices of the threshold, the number of links, and the residual connection as a path."""
    with st.container(horizontal=True):
        threshold = parameters.FLOW_THRESHOLD.choose(
            "Threshold", width=130, help="The smallest weight that a link may have."
        )
        most = parameters.FLOW_LINKS.choose("Links per layer (max.)", width=170)
        residual = choose_residual()
    return float(threshold), int(most), residual


def _choose_source(view: FlowView) -> int | None:
    """Let the learner choose the token whose paths are followed, from 0; None if the paths of all tokens are drawn."""
    n, asked = len(view.trace), parameters.FOLLOW.chosen()
    if asked > n:
        selection.note(f"There is no token {asked} to follow, because this text has only {n} tokens.")
    tokens = view.trace.labels
    names = ["All tokens", *(f"{i} · {token}" for i, token in enumerate(tokens, start=1))]
    told, first = "You see only links on paths that start at this token before layer 1.", asked if asked <= n else 0
    chosen = parameters.FOLLOW.choose("Follow", range(n + 1), first, names.__getitem__, help=told)
    return chosen - 1 if chosen else None
