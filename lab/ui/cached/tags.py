"""What the lesson on head specialization computes, once for all sessions: tags, scores, surveys of many sentences."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.text.tags.pipeline import PipelineUnavailable
from lab.ui.cached.runs import TURNS, identity, settle, untrained_run, untrained_twin, weights_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lab.analysis.heads.clustering import Clustering
    from lab.analysis.heads.named import Chance
    from lab.analysis.heads.patterns import Patterns
    from lab.analysis.heads.specialization import Specialization
    from lab.analysis.heads.survey import HeadSurvey
    from lab.analysis.heads.values import Values
    from lab.models.encoding import Encoding
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace
    from lab.text.tags.pipeline import Pipeline, TaggedText
    from lab.text.tags.tokens import Tags


def pipeline() -> Pipeline:
    """The spaCy pipeline of this server, loaded once. Raises PipelineUnavailable."""
    loaded = _pipeline()
    if isinstance(loaded, PipelineUnavailable):
        raise loaded
    return loaded


@st.cache_resource(max_entries=1, show_spinner="Loading the tagger …")
def _pipeline() -> Pipeline | PipelineUnavailable:
    from lab.text.tags.pipeline import load_pipeline

    try:
        loaded = load_pipeline()
    except PipelineUnavailable as error:
        return error  # kept, so that not every rerun tries again
    settle()
    return loaded


@st.cache_resource(max_entries=512, show_spinner=False)
def _tagged(text: str) -> TaggedText:
    return pipeline().tag(text)  # a pipeline takes one text at a time by itself


def tags(traced: Trace) -> Tags:
    """Part of speech and entity of each token of a trace. Raises PipelineUnavailable."""
    return _tags(traced, identity(traced), traced.text, traced.pair)


@st.cache_resource(max_entries=64, show_spinner=False)
def _tags(_traced: Trace, run_id: Hashable, text: str, pair: str | None) -> Tags:
    return _encoding_tags(_traced.encoding)


def _encoding_tags(encoding: Encoding) -> Tags:
    from lab.text.tags.tokens import speech_and_entities

    return speech_and_entities(encoding, _tagged(encoding.text), _tagged(encoding.pair or ""))


def _no_tags(encoding: Encoding) -> Tags:
    """For texts that have no parts of speech."""
    nothing = (None,) * len(encoding)
    return nothing, nothing


def specialization(traced: Trace, left_out: bool = False) -> Specialization:
    """The seven metrics of every head, (L, H, 7). Raises PipelineUnavailable.

    ``left_out``: without special tokens, or without the first token where a model has none.
    """
    return _specialization(traced, identity(traced), tags(traced), left_out)


@st.cache_resource(max_entries=64, show_spinner=False)
def _specialization(_traced: Trace, run_id: Hashable, tags: Tags, left_out: bool) -> Specialization:
    from lab.analysis.heads.metric_parts import keep_others
    from lab.analysis.heads.specialization import trace_specialization

    with TURNS:
        return trace_specialization(_traced, *tags, keep=keep_others(_traced) if left_out else None)


def patterns(traced: Trace) -> Patterns:
    """The pattern scores of every head, (L, H)."""
    words = (traced.text, traced.pair)  # upper and lower case are the same tokens, cut alike or not
    return _patterns(traced, identity(traced), words)


@st.cache_resource(max_entries=64, show_spinner=False)
def _patterns(_traced: Trace, run_id: Hashable, words: Hashable) -> Patterns:
    from lab.analysis.heads.patterns import trace_patterns

    with TURNS:
        return trace_patterns(_traced)


def other_patterns(traced: Trace) -> Patterns | None:
    """The same without special tokens, or without the first token; None where no other token is left."""
    return _other_patterns(traced, identity(traced), (traced.text, traced.pair))


@st.cache_resource(max_entries=64, show_spinner=False)
def _other_patterns(_traced: Trace, run_id: Hashable, words: Hashable) -> Patterns | None:
    from lab.analysis.heads.metric_parts import keep_others
    from lab.analysis.heads.patterns import trace_patterns

    keep = keep_others(_traced)
    with TURNS:
        return None if keep is None else trace_patterns(_traced, keep)


def chance(traced: Trace, others: bool = False) -> Chance:
    """What the patterns score by chance on this text, of a uniform head and of the untrained twin's heads.

    ``others``: without special tokens, or without the first token; to be asked where others are left.
    """
    return _chance(traced, identity(traced), (traced.text, traced.pair), others)


@st.cache_resource(max_entries=64, show_spinner=False)
def _chance(_traced: Trace, run_id: Hashable, words: Hashable, others: bool) -> Chance:
    from lab.analysis.heads.metric_parts import keep_others
    from lab.analysis.heads.named import chance_of

    seen = untrained_run(_traced)
    with TURNS:
        return chance_of(_traced, seen, keep_others(_traced) if others else None)


def names(traced: Trace) -> NDArray[np.str_]:
    """The named pattern of each head on this text, (L, H): an id of a pattern, or "mixed"."""
    from lab.analysis.heads.named import name_heads

    return name_heads(patterns(traced), chance(traced))


def head_survey(loaded: LoadedModel, texts: tuple[str, ...], tagged: bool) -> HeadSurvey:
    """The survey of these texts, as far as it has come; all sessions go on with the same one."""
    return _head_survey(weights_of(loaded), texts, tagged)


@st.cache_resource(max_entries=8, show_spinner=False)
def _head_survey(weights: Hashable, texts: tuple[str, ...], tagged: bool) -> HeadSurvey:
    from lab.analysis.heads.survey import HeadSurvey

    return HeadSurvey(texts)


def advance(survey: HeadSurvey, loaded: LoadedModel, tagged: bool) -> None:
    """One step of a survey: the next text."""
    untrained = untrained_twin(loaded)
    with TURNS:
        survey.step(loaded, _encoding_tags if tagged else _no_tags, untrained)


@st.cache_resource(max_entries=32, show_spinner=False)
def clusters(_sentences: tuple[Values, ...], survey: Hashable, k: int) -> tuple[Clustering, Values]:
    """The heads in k clusters and the (rounds,) stability. ``survey`` names the sentences.

    Raises ValueError where the heads or the sentences are too few or too alike.
    """
    from lab.analysis.heads.clustering import cluster, stability, standardised
    from lab.analysis.heads.survey import mean_features

    with TURNS:
        return cluster(standardised(mean_features(_sentences)), k), stability(_sentences, k)


def survey_id(survey: HeadSurvey, loaded: LoadedModel, done: int, tagged: bool) -> Hashable:
    """What tells a survey's state apart from any other."""
    return weights_of(loaded), survey.texts, done, tagged
