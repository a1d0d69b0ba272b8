"""What the prediction lesson computes, once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached.runs import TURNS, identity

if TYPE_CHECKING:
    from lab.analysis.layers.lens import Lens
    from lab.analysis.words.likelihood import Likelihood
    from lab.analysis.words.next_sentence import NextSentence
    from lab.analysis.words.sampling import Continuation, SamplingSettings
    from lab.models.trace import Trace


@dataclass
class Scoring:
    """The likelihood of a text as far as it has come; all sessions that look at the text go on with the same one."""

    latest: Likelihood | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def finished(self) -> bool:
        return self.latest is not None and self.latest.finished


def scoring(traced: Trace) -> Scoring:
    """The scores of this text's tokens, as far as anybody asked for them."""
    return _scoring(identity(traced))


@st.cache_resource(max_entries=64, show_spinner=False)
def _scoring(run_id: Hashable) -> Scoring:
    return Scoring()


def advance(found: Scoring, traced: Trace) -> None:
    """One step of a scoring: the next batch of hidden tokens, or the one pass that a causal model needs.

    Raises ValueError for a text without a token to score.
    """
    from lab.analysis.words.likelihood import likelihood

    with found.lock, TURNS:
        if not found.finished:
            batches = likelihood(traced.model, traced.encoding, found.latest.scores if found.latest else ())
            for found.latest in batches:
                if not traced.model.config.causal:
                    break


def lens(traced: Trace, places: tuple[int, ...], truths: tuple[int | None, ...]) -> tuple[Lens, float]:
    """The lens at ``places`` and how far its last row is from the output; see :mod:`lab.analysis.layers.lens`."""
    return _lens(traced, identity(traced), places, truths)


@st.cache_resource(max_entries=64, show_spinner=False)
def _lens(
    _traced: Trace, run_id: Hashable, places: tuple[int, ...], truths: tuple[int | None, ...]
) -> tuple[Lens, float]:
    from lab.analysis.layers.lens import lens, output_difference

    with TURNS:
        found = lens(_traced, places, truths)
        return found, output_difference(_traced, found)


def next_sentence(traced: Trace) -> NextSentence | None:
    """Both orders of a pair; None where there is no pair or no head for it."""
    return _next_sentence(traced, identity(traced), (traced.text, traced.pair))


@st.cache_resource(max_entries=64, show_spinner=False)
def _next_sentence(_traced: Trace, run_id: Hashable, texts: Hashable) -> NextSentence | None:
    from lab.analysis.words.next_sentence import next_sentence

    with TURNS:
        return next_sentence(_traced)


def continued(
    traced: Trace, place: int, count: int, settings: SamplingSettings, seed: int
) -> Iterator[Continuation]:  # fmt: skip
    """Up to ``count`` tokens drawn after the token at ``place``, one at a time; others get their turn between two.

    Raises ValueError for a model that is not causal.
    """
    from lab.analysis.words.sampling import begun, continue_text

    tokens = continue_text(traced.model, begun(traced.encoding, place + 1), count, settings, seed)
    while True:
        with TURNS:
            token = next(tokens, None)
        if token is None:
            return
        yield token
