"""What is read off embeddings and layers, computed once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached.runs import TURNS, identity, weights_of

if TYPE_CHECKING:
    from lab.analysis.layers.embeddings import Gap, Movement, Order, SegmentChange
    from lab.analysis.layers.excitation import NeuronSurvey
    from lab.analysis.layers.feed_forward import Array
    from lab.analysis.layers.sublayers import SublayerChanges
    from lab.models.interventions import Interventions
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace


def segment_movement(traced: Trace, change: SegmentChange) -> Movement:
    """How far hidden states move under other segments; see :func:`lab.analysis.layers.embeddings.segment_movement`."""
    return _segment_movement(traced, identity(traced), change)


@st.cache_resource(max_entries=64, show_spinner=False)
def _segment_movement(_traced: Trace, run_id: Hashable, change: SegmentChange) -> Movement:
    from lab.analysis.layers.embeddings import segment_movement

    with TURNS:
        return segment_movement(_traced, change)


def permutation_gap(traced: Trace, order: Order, changes: Interventions) -> Gap:
    """Whether outputs move with their tokens; see :func:`lab.analysis.layers.embeddings.permutation_gap`."""
    return _permutation_gap(traced, identity(traced), order, changes)


@st.cache_resource(max_entries=64, show_spinner="Running it in another order …")
def _permutation_gap(_traced: Trace, run_id: Hashable, order: Order, changes: Interventions) -> Gap:
    from lab.analysis.layers.embeddings import permutation_gap

    with TURNS:
        return permutation_gap(_traced, order, changes)


def sublayer_changes(traced: Trace) -> SublayerChanges:
    """What each sublayer adds to each token; see :func:`lab.analysis.layers.sublayers.sublayer_changes`."""
    return _sublayer_changes(traced, identity(traced))


@st.cache_resource(max_entries=64, show_spinner=False)
def _sublayer_changes(_traced: Trace, run_id: Hashable) -> SublayerChanges:
    from lab.analysis.layers.sublayers import sublayer_changes

    with TURNS:
        return sublayer_changes(_traced)


def active_on_words(traced: Trace) -> Array:
    """How many neurons of each layer words excite; see :func:`lab.analysis.layers.feed_forward.active_on_words`."""
    return _active_on_words(traced, identity(traced))


@st.cache_resource(max_entries=64, show_spinner=False)
def _active_on_words(_traced: Trace, run_id: Hashable) -> Array:
    from lab.analysis.layers.feed_forward import active_on_words

    with TURNS:
        return active_on_words(_traced)


def neuron_survey(loaded: LoadedModel, texts: tuple[str, ...]) -> NeuronSurvey:
    """The survey of these texts, as far as it has come; all sessions go on with the same one."""
    return _neuron_survey(loaded, weights_of(loaded), texts)


@st.cache_resource(max_entries=4, show_spinner=False)
def _neuron_survey(_loaded: LoadedModel, weights: Hashable, texts: tuple[str, ...]) -> NeuronSurvey:
    from lab.analysis.layers.excitation import NeuronSurvey

    return NeuronSurvey(_loaded, texts)


def advance(survey: NeuronSurvey, loaded: LoadedModel) -> None:
    """One step of a survey."""
    with TURNS:
        survey.step(loaded)


def chance_deviation(loaded: LoadedModel) -> tuple[float, float]:
    """How far out the best word of a random direction stands; see :mod:`lab.analysis.layers.feed_forward`."""
    return _chance_deviation(loaded, weights_of(loaded))


@st.cache_resource(max_entries=16, show_spinner=False)
def _chance_deviation(_loaded: LoadedModel, weights: Hashable) -> tuple[float, float]:
    from lab.analysis.layers.feed_forward import chance_deviation

    with TURNS:
        return chance_deviation(_loaded)
