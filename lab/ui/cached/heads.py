"""What is read off the heads of a run, computed once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached import tags as cached_tags
from lab.ui.cached.runs import TURNS, identity

if TYPE_CHECKING:
    from lab.analysis.heads.ablation import EachHeadOff, HeadOff
    from lab.analysis.heads.metrics import Metrics
    from lab.analysis.heads.thumbnails import Thumbnails
    from lab.analysis.heads.values import Values
    from lab.analysis.sentences.attention import InterSentence, SentenceCells
    from lab.models.trace import Trace


def head_names(traced: Trace, layer: int) -> tuple[str, ...]:
    """The named pattern of each head of a layer (from 0) on this text: an id of a pattern, or "mixed"."""
    return tuple(cached_tags.names(traced)[layer].tolist())


def head_divergence(traced: Trace, layer: int) -> Values:
    """How far the heads of a layer (from 0) are apart, (H, H)."""
    return _head_divergence(traced, identity(traced), layer)


@st.cache_resource(max_entries=64, show_spinner=False)
def _head_divergence(_traced: Trace, run_id: Hashable, layer: int) -> Values:
    from lab.analysis.heads.comparing import head_divergence
    from lab.analysis.heads.values import is_causal

    with TURNS:
        return head_divergence(_traced.layer(layer).attention, causal=is_causal(_traced))


def thumbnails(traced: Trace) -> Thumbnails:
    """A small map of every head; see :func:`lab.analysis.heads.thumbnails.thumbnails`."""
    return _thumbnails(traced, identity(traced))


@st.cache_resource(max_entries=12, show_spinner=False)
def _thumbnails(_traced: Trace, run_id: Hashable) -> Thumbnails:
    from lab.analysis.heads.thumbnails import thumbnails

    with TURNS:
        return thumbnails(_traced)


def metrics(traced: Trace, threshold: float, only_words: bool = False) -> Metrics:
    """The six metrics of every head, (L, H); see :func:`lab.analysis.heads.metrics.trace_metrics`.

    ``only_words`` leaves out special tokens, or the first token where a model has none.
    """
    return _metrics(traced, identity(traced), threshold, only_words)


@st.cache_resource(max_entries=64, show_spinner=False)
def _metrics(_traced: Trace, run_id: Hashable, threshold: float, only_words: bool) -> Metrics:
    from lab.analysis.heads.metric_parts import keep_others
    from lab.analysis.heads.metrics import trace_metrics

    with TURNS:
        return trace_metrics(_traced, threshold=threshold, keep=keep_others(_traced) if only_words else None)


@st.cache_resource(max_entries=64, show_spinner=False)
def uniform_metrics(n: int, causal: bool, threshold: float) -> Metrics:
    """The metrics of a head without preference on n tokens, (1,)."""
    from lab.analysis.heads.metrics import uniform_metrics

    with TURNS:
        return uniform_metrics(n, causal, threshold=threshold)


@st.cache_resource(max_entries=12, show_spinner=False)
def uniform_by_length(causal: bool, threshold: float) -> Metrics:
    """The same at many lengths; see :func:`lab.analysis.heads.metric_parts.uniform_by_length`."""
    from lab.analysis.heads.metric_parts import uniform_by_length

    with TURNS:
        return uniform_by_length(causal, threshold)


def inter_sentence(traced: Trace, sentence_of: tuple[int | None, ...], renormalise: bool = False) -> InterSentence:
    """Attention between the sentences of a text; see :func:`lab.analysis.sentences.attention.inter_sentence`."""
    return _inter_sentence(traced, identity(traced), sentence_of, renormalise)


@st.cache_resource(max_entries=64, show_spinner=False)
def _inter_sentence(
    _traced: Trace, run_id: Hashable, sentence_of: tuple[int | None, ...], renormalise: bool
) -> InterSentence:  # fmt: skip
    from lab.analysis.sentences.attention import inter_sentence

    with TURNS:
        return inter_sentence(_traced, sentence_of, renormalise=renormalise)


def mean_cells(traced: Trace, found: InterSentence, a: int, b: int) -> SentenceCells:
    """The mean over all heads between the tokens of two sentences."""
    members = tuple(tuple(places.tolist()) for places in found.members)
    return _mean_cells(traced, found, identity(traced), (members, found.renormalised), (a, b))


@st.cache_resource(max_entries=64, show_spinner=False)
def _mean_cells(
    _traced: Trace, _found: InterSentence, run_id: Hashable, read: Hashable, of: tuple[int, int]
) -> SentenceCells:  # fmt: skip
    from lab.analysis.sentences.attention import mean_cells

    with TURNS:
        return mean_cells(_traced, _found, *of)


def head_off(traced: Trace, layer: int, head: int, place: int | None, to_mean: bool) -> HeadOff:
    """``traced`` again with one head off; see :func:`lab.analysis.heads.ablation.head_off`."""
    return _head_off(traced, identity(traced), (layer, head), place, to_mean)


@st.cache_resource(max_entries=32, show_spinner=False)
def _head_off(_traced: Trace, run_id: Hashable, at: tuple[int, int], place: int | None, to_mean: bool) -> HeadOff:
    from lab.analysis.heads.ablation import head_off

    with TURNS:
        return head_off(_traced, *at, place, to_mean)


def each_head_off(traced: Trace, place: int | None, word: int | None, to_mean: bool) -> EachHeadOff:
    """``traced`` again with every head off, one at a time; see :func:`lab.analysis.heads.ablation.each_head_off`."""
    return _each_head_off(traced, identity(traced), place, word, to_mean)


@st.cache_resource(max_entries=64, show_spinner="Switching off one head at a time …")
def _each_head_off(
    _traced: Trace, run_id: Hashable, place: int | None, word: int | None, to_mean: bool
) -> EachHeadOff:  # fmt: skip
    from lab.analysis.heads.ablation import each_head_off

    with TURNS:
        return each_head_off(_traced, place, word, to_mean)
