"""What the bench of comparisons reads off a run, once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached import tags as cached_tags
from lab.ui.cached.runs import TURNS, identity

if TYPE_CHECKING:
    from lab.benches.compare.comparable import At
    from lab.benches.compare.shown import Shown
    from lab.models.interventions import Interventions
    from lab.models.trace import Trace


def shown(traced: Trace, figure: str, at: At) -> Shown:
    """What a figure shows of a run; see :func:`lab.benches.compare.comparable.shown`, whose errors it has."""
    # The text, too: what is spelt otherwise may be the same tokens, but other words and sentences.
    return _shown(traced, identity(traced), (traced.text, traced.pair), figure, str(at), at)


@st.cache_resource(max_entries=96, show_spinner=False)
def _shown(_traced: Trace, run_id: Hashable, texts: Hashable, figure: str, key: str, _at: At) -> Shown:
    from lab.benches.compare.comparable import HEAD_NAMES, SPECIALIZATION, head_names_of, shown, specialization_of

    if figure == SPECIALIZATION:
        return specialization_of(_traced, cached_tags.specialization(_traced), _at)
    if figure == HEAD_NAMES:
        return head_names_of(cached_tags.names(_traced), _at.inside(_traced))
    with TURNS:
        return shown(_traced, figure, _at)


def hidden(traced: Trace, token: int) -> Trace:
    """The run in which a token is hidden; see :func:`lab.benches.compare.comparable.hidden`, whose errors it has."""
    return _hidden(traced, identity(traced), token)


@st.cache_resource(max_entries=16, show_spinner=False)
def _hidden(_traced: Trace, run_id: Hashable, token: int) -> Trace:
    from lab.benches.compare.comparable import hidden

    with TURNS:
        return hidden(_traced, token)


def changed(traced: Trace, changes: Interventions) -> Trace:
    """The same tokens with an intervention. Raises ValueError for one that this run does not allow."""
    return _changed(traced, identity(traced), str(changes), changes)


@st.cache_resource(max_entries=16, show_spinner=False)
def _changed(_traced: Trace, run_id: Hashable, key: str, _changes: Interventions) -> Trace:
    from lab.models.trace import trace_encoding

    with TURNS:
        return trace_encoding(_traced.model, _traced.encoding, _changes)
