"""The index of a trace and the sums over its tensors, made once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached.runs import TURNS, identity

if TYPE_CHECKING:
    from lab.analysis.layers.inspector import Cut, Statistics
    from lab.models.tensor_entries import TensorEntry
    from lab.models.trace import Trace


def catalogue(traced: Trace) -> tuple[TensorEntry, ...]:
    """Every tensor of the trace; see :func:`lab.models.tensors.catalogue`."""
    return _catalogue(traced, identity(traced))


@st.cache_resource(max_entries=64, show_spinner=False)
def _catalogue(_traced: Trace, run_id: Hashable) -> tuple[TensorEntry, ...]:
    with TURNS:
        return _traced.catalogue()


def statistics(traced: Trace, cut: Cut) -> Statistics | None:
    """Minimum, maximum, mean … of a part of a tensor; see :func:`lab.analysis.layers.inspector.statistics`."""
    place = (cut.entry.name, cut.layer, cut.lead, str(cut.rows), str(cut.columns))
    return _statistics(traced, identity(traced), cut, place)


@st.cache_data(max_entries=512, show_spinner=False)
def _statistics(_traced: Trace, run_id: Hashable, _cut: Cut, place: Hashable) -> Statistics | None:
    from lab.analysis.layers.inspector import statistics as of
    from lab.analysis.layers.inspector import values

    with TURNS:
        return of(values(_traced, _cut))
