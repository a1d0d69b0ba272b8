"""What is read off all layers of a run at once, computed once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached.runs import TURNS, identity

if TYPE_CHECKING:
    from lab.analysis.heads.values import Weights
    from lab.models.trace import Trace


def layer_maps(traced: Trace, head: int | None, norms: bool) -> Weights:
    """One matrix a layer, (L, n, n); see :func:`lab.analysis.flow.maps.layer_maps`."""
    return _layer_maps(traced, identity(traced), head, norms)


# Few: at 512 tokens the matrices of twelve layers are 13 MB.
@st.cache_resource(max_entries=8, show_spinner=False)
def _layer_maps(_traced: Trace, run_id: Hashable, head: int | None, norms: bool) -> Weights:
    from lab.analysis.flow.maps import layer_maps

    with TURNS:
        return layer_maps(_traced, head, norms=norms)


def rollout(traced: Trace, layers: int, norms: bool) -> Weights:
    """The rollout after the first ``layers`` layers, (n, n); see :mod:`lab.analysis.flow.rollout`."""
    return _rollout(traced, identity(traced), layers, norms)


@st.cache_resource(max_entries=32, show_spinner=False)
def _rollout(_traced: Trace, run_id: Hashable, layers: int, norms: bool) -> Weights:
    from lab.analysis.flow.rollout import rollout

    maps = layer_maps(_traced, None, norms)
    with TURNS:
        return rollout(maps[:layers])
