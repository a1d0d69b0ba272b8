"""Flow: the paths of attention from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.course.words import escaped, named
from lab.figures import flow
from lab.models.trace import Trace
from lab.ui import parameters, selection, sidebar
from lab.ui.bench import BenchParts
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import BenchPage
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


def look(page: BenchPage, trace: Trace, step: str) -> FlowView:
    """Draw the choices that lead to the run's part on screen, in the sidebar."""
    # Rollout takes the mean over heads, as in its paper; the Sankey diagram shows every layer.
    head = page.head_control(trace) if step != "rollout" and _choose_heads() else None
    layer = _choose_layer(trace) if step != "sankey" else trace.model.config.layers - 1
    norms = _choose_reading()
    token, _ = with_tokens(trace, None if head is None else (layer, head))
    return FlowView(trace, layer, head, token, norms)


def _choose_heads() -> bool:
    """Draw in the sidebar the choice between the mean over heads and one head; return True for one head."""
    with sidebar.controls():
        told = "One head means the head with this number in every layer. These heads may do different things."
        return parameters.FLOW_HEADS.choose("Heads", help=told) == ONE_HEAD


def _choose_layer(trace: Trace) -> int:
    """Draw in the sidebar the choice of the layer to which the paths lead, from 0; at first, it is the last layer."""
    count = trace.model.config.layers
    st.session_state["_flow_layer"] = _chosen_layer(trace, count) or count

    def take() -> None:
        chosen = st.session_state["_flow_layer"]
        parameters.FLOW_LAYER.set(0 if chosen == count else chosen)

    with sidebar.controls():
        told = "Rollout and the tree start after this layer and go down to the input."
        chosen = st.selectbox("Layer", range(1, count + 1), key="_flow_layer", on_change=take, help=told)
    return int(chosen) - 1


def _chosen_layer(trace: Trace, count: int) -> int:
    """Read the layer of the link, from 1, or 0 for the last; if the model has no such layer, the page says so."""
    asked = parameters.FLOW_LAYER.chosen()
    if asked > count:
        selection.note(f"There is no layer {asked} in {escaped(trace.model.id)}, whose layers run from 1 to {count}.")
        asked = 0
        parameters.FLOW_LAYER.set(asked)
    return asked


def _choose_reading() -> bool:
    """Draw in the sidebar, folded, the choice between weights and norms of the added vectors; return True for norms."""
    with sidebar.folded():
        chosen = parameters.FLOW_READING.choose(
            "Measured by",
            help=(
                "The norms of the contributions, ‖α·f(x)‖, are the lengths of the vectors that one token adds to "
                "another through the values and W_O. You see each length as a share of its row (Kobayashi et al. 2020)."
            ),
        )
    return chosen == NORMS


PARTS: BenchParts[FlowView] = BenchParts(look=look)


def choose_residual() -> bool:
    """Draw the switch that counts the residual connection as a path."""
    help_ = "With residual, the matrix is ½A + ½I: half of each token goes past the heads unchanged, as in rollout."
    return parameters.FLOW_RESIDUAL.choose("Paths", help=help_) == WITH_RESIDUAL


def choose_words() -> bool:
    """Draw the switch that leaves special tokens out of the figure; the weights do not change."""
    chosen = parameters.FLOW_TOKENS.choose(
        "Tokens",
        help=(
            "“Words only” leaves out [CLS] and [SEP], or the first token if a model has neither. The weights do "
            "not change."
        ),
    )
    return chosen == WORDS_ONLY
