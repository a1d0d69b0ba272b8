"""The parts that the flow bench's screens share, and its first screen: attention by layer as a Sankey diagram."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow.maps import Links, strongest_links
from lab.analysis.flow.reading import Reading, links
from lab.course.words import escaped, named, percent
from lab.figures import flow
from lab.models.trace import Trace
from lab.ui import parameters, selection, sidebar
from lab.ui.drawing import code, draw_sankey
from lab.ui.frame.script import meaning
from lab.ui.parameters import NORMS, ONE_HEAD, WITH_RESIDUAL, WORDS_ONLY


@dataclass(frozen=True)
class FlowView:
    """The part of the run on screen.

    ``layer``, ``head`` and ``token`` count from 0; head None is the mean over heads.
    """

    trace: Trace
    layer: int
    head: int | None
    token: int
    norms: bool

    def name(self, token: int) -> str:
        """Return a token for Markdown, with its place."""
        return named(self.trace, token)

    @property
    def heads(self) -> str:
        """The chosen heads in words, for titles."""
        return flow.heads_in_words(self.head)

    @property
    def value(self) -> str:
        """The name of the drawn quantity, for axes and tooltips."""
        return flow.value_name(self.norms)


def choose_heads() -> bool:
    """Draw in the sidebar the choice between the mean over heads and one head; return True for one head."""
    with sidebar.controls():
        told = "One head: the head with this number in every layer. These heads may do different things."
        return parameters.FLOW_HEADS.choose("Heads", help=told) == ONE_HEAD


def choose_layer(trace: Trace) -> int:
    """Draw in the sidebar the choice of the layer to which the paths lead, from 0; at first, it is the last layer."""
    count = trace.model.config.layers
    st.session_state["_flow_layer"] = _layer_of_link(trace, count) or count

    def take() -> None:
        chosen = st.session_state["_flow_layer"]
        parameters.FLOW_LAYER.set(0 if chosen == count else chosen)

    with sidebar.controls():
        told = "Rollout and the tree start after this layer and go down to the input."
        chosen = st.selectbox("Layer", range(1, count + 1), key="_flow_layer", on_change=take, help=told)
    return int(chosen) - 1


def _layer_of_link(trace: Trace, count: int) -> int:
    """Read the layer that a link asks for, from 1, or 0 for the last; the page says so if the model has no such layer.

    Older links call this parameter ``layer``, as other pages still do; such links still work.
    """
    before = selection.asked(parameters.LAYER)
    if before is not None:
        st.query_params.pop(parameters.LAYER.name, None)
        st.session_state.pop(parameters.LAYER.name, None)
        parameters.FLOW_LAYER.set(parameters.FLOW_LAYER.meant(before) or 0)
    asked = parameters.FLOW_LAYER.chosen()
    if asked > count or (before is not None and asked == 0):
        what = escaped(str(before if before is not None else asked)[:20])
        selection.note(f"There is no layer {what} in {escaped(trace.model.id)}: layers run from 1 to {count}.")
        asked = 0
        parameters.FLOW_LAYER.set(asked)
    return asked


def choose_reading() -> bool:
    """Draw in the sidebar, folded, the choice between weights and norms of the added vectors; return True for norms."""
    with sidebar.folded():
        chosen = parameters.FLOW_READING.choose(
            "Measured by",
            help=(
                "Norms of the contributions: ‖α·f(x)‖, the length of the vector that a token adds to another through "
                "the values and W_O, as a share of its row (Kobayashi et al. 2020)."
            ),
        )
    return chosen == NORMS


def choose_residual() -> bool:
    """Draw the switch that counts the residual connection as a path."""
    help_ = "With residual: ½A + ½I. Half of each token goes past the heads unchanged, as in rollout."
    return parameters.FLOW_RESIDUAL.choose("Paths", help=help_) == WITH_RESIDUAL


def choose_words() -> bool:
    """Draw the switch that leaves special tokens out of the figure; the weights do not change."""
    chosen = parameters.FLOW_TOKENS.choose(
        "Tokens",
        help=(
            "Words only: without [CLS] and [SEP], or without the first token if a model has neither. The weights do "
            "not change."
        ),
    )
    return chosen == WORDS_ONLY


def show_sankey(view: FlowView) -> None:
    """Draw the strongest links of all layers, with the controls of the diagram below."""
    st.markdown("A band runs from the token that is looked at (left) to the token that looks (right).")
    figure = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = _choose_source(view)
        words_only = choose_words()
    with st.expander("More controls", icon=":material/tune:"):
        threshold, most, residual = _controls()
    read = Reading(view.head, view.norms, residual, words_only)
    found = links(view.trace, read, threshold, most, source)
    with figure:
        if len(found) == 0:
            _say_none(view, read, threshold, source)
            return
        draw_sankey(partial(flow.attention_flow, view.trace, read, threshold, most, source), "flow-sankey")
        _say_links(view, found, threshold, source)
    code(strongest_links)


def _controls() -> tuple[float, int, bool]:
    """Draw the controls of the threshold, the number of links, and the residual connection as a path."""
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
        selection.note(f"There is no token {asked} to follow: this text has {n}.")
    tokens = view.trace.labels
    names = ["All tokens", *(f"{i} · {token}" for i, token in enumerate(tokens, start=1))]
    told, first = "Show only links on paths that start at this token before layer 1.", asked if asked <= n else 0
    chosen = parameters.FOLLOW.choose("Follow", range(n + 1), first, names.__getitem__, help=told)
    return chosen - 1 if chosen else None


def _say_none(view: FlowView, read: Reading, threshold: float, source: int | None) -> None:
    """Say that no link is drawn, and name the strongest link, so that the learner can find a threshold."""
    maps, keep = read.maps(view.trace), read.keep(view.trace)
    rows = np.ones(len(view.trace), dtype=np.bool_) if keep is None else keep
    if source is not None and not rows[source]:
        st.info(f"{view.name(source)} is left out: choose another token, or all tokens.", icon=":material/filter_alt:")
        return
    seen = maps[:, rows][:, :, rows] if source is None else maps[:1, rows][:, :, [source]]
    where = "No link" if source is None else f"In layer 1 no link from {view.name(source)}"
    st.info(
        f"{where} reaches the threshold {threshold:g}; the strongest has {seen.max():.4f}. Choose a lower threshold.",
        icon=":material/filter_alt:",
    )


def _say_links(view: FlowView, links: Links, threshold: float, source: int | None) -> None:
    """Say where the widest band leads, and which share of all links is drawn."""
    top = int(links.weight.argmax())
    start, end = view.name(int(links.key[top])), view.name(int(links.query[top]))
    some = "All" if len(links) == links.reaching else f"{len(links)} of"
    paths = "" if source is None else f" on paths from {view.name(source)}"
    meaning(
        f"The widest band leads from {start} to {end} in layer {links.layer[top] + 1}: **{links.weight[top]:.2f}**. "
        f"{some} {links.reaching:,} links{paths} with at least {threshold:g} are drawn; they carry "
        f"**{percent(float(links.mass))}** of what all tokens receive in all layers."
    )
