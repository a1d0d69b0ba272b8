"""The effect of segment vectors: a pair of texts with other segments, and the words in its blank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import SegmentChange, with_segments
from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import quoted
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.config import ModelConfig
from lab.models.encoding import BLANK
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import SEGMENTS
from lab.ui.terms import say

# The course's pair: a text and a second text, whose blank needs a word from the first.
PAIR = ("She has lived in France for years.", "Her city is [MASK].")
# Why a model has no segment vectors, behind its name: it writes on, or its training did not ask about two texts.
WRITES_ON = (
    "has no segment vectors: it learned only to continue a text, token by token, and this task never asks to which "
    "of two texts a token belongs."
)
NOT_ASKED = (
    "has no segment vectors. BERT was given them because it also learned to tell whether one text follows another; "
    "[SEP] separates the two texts, too."
)
READING = "With the segments, the best word is {best} ({before:.2f}). With {change}, it is {other} ({after:.2f})."
NO_BLANK = "Write a blank (_) into one of the two texts, to see what the segments change there."
_CHANGES: dict[SegmentChange, str] = {
    "all 0": "all segments 0",
    "swapped": "the segments swapped",
    "left out": "no segment vectors",
}
_NAMES, _WORDS = "AB", 5


def without_segments(config: ModelConfig) -> str | None:
    """Say why a model has no segment vectors, for a sentence that begins with its name; None if it has them."""
    if config.segments > 1:
        return None
    return WRITES_ON if config.causal else NOT_ASKED


def segments_listed(ids: Sequence[int]) -> str:
    """The tokens of each segment, counted from 1."""
    told = []
    for segment in sorted(set(ids)):
        places = [place for place, each in enumerate(ids, start=1) if each == segment]
        told.append(f"{_NAMES[segment % 2]} (id {segment}) is tokens {places[0]} to {places[-1]}")
    return ", ".join(told)


@once
def with_other(traced: Trace, change: SegmentChange) -> Trace:
    """Run the same tokens with other segment ids, or without segment vectors."""
    changes = replace(traced.interventions, no_segments=change == "left out")
    return trace_encoding(traced.model, with_segments(traced.encoding, change), changes)


def words_in_blank(traced: Trace, place: int, change: SegmentChange) -> Figure:
    """Draw the most probable words in the blank at ``place``, with other segments."""
    found = candidates(prediction_at(with_other(traced, change), place, None), _WORDS, traced.model.tokenizer)
    title, scale = f"With {_CHANGES[change]}", Scale("Probability", (0.0, 1.0), ".2f")
    return bars([each.word for each in found], [each.probability for each in found], scale, title=title)


def said(traced: Trace, place: int, change: SegmentChange) -> str:
    """Say which word is best with the segments as they are, and with other segments."""
    (best,), (other,) = (
        candidates(prediction_at(run, place, None), 1, traced.model.tokenizer)
        for run in (traced, with_other(traced, change))
    )
    return READING.format(
        best=quoted(best.word),
        before=best.probability,
        change=_CHANGES[change],
        other=quoted(other.word),
        after=other.probability,
    )


def show_segments(view: EmbeddingView) -> None:
    """Run a pair with other segments, and show the words in its blank."""
    blanks = [place for place, label in enumerate(view.trace.labels) if label == BLANK]
    if len(blanks) != 1 or view.trace.model.no_words:
        say(NO_BLANK)
        return
    with sidebar.controls():
        change = SEGMENTS.choose("Run the pair again with the segments", SEGMENTS.options)
    draw(partial(words_in_blank, view.trace, blanks[0], change), "words-in-blank")
    say(said(view.trace, blanks[0], change))
    st.caption(f"GPT-2 {WRITES_ON}")
    code(with_segments)
