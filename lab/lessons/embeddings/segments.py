"""The effect of segment vectors: the part of the embeddings lesson that runs a pair with other segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.attention import heaviest
from lab.analysis.layers.embeddings import Movement, SegmentChange, Values, segment_movement
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import lines, settled
from lab.charts.tokens.encoding import encoding_chips
from lab.course.sentences.examples import example_named
from lab.course.words import quoted
from lab.figures.attention import BARS
from lab.figures.axes import STATES
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.config import ModelConfig
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.chips import draw_chips
from lab.ui.drawing import code, draw
from lab.ui.parameters import SEGMENTS
from lab.ui.terms import say

EXAMPLE = example_named("A pair that follows")
_DISTANCE = Scale("Distance ÷ length")
_NAMES = "AB"
# Why a model has no segment vectors, behind its name: it writes on, or its training did not ask about two texts.
WRITES_ON = (
    "has no segment vectors: it learned only to continue a text, token by token, and this task never asks to which "
    "of two texts a token belongs."
)
_NOT_ASKED = (
    "has no segment vectors. BERT needs them because it also learned to tell whether one text follows another, so it "
    "must distinguish two texts."
)
_CHANGES: Mapping[SegmentChange, str] = {
    "all 0": "all ids set to 0",
    "swapped": "ids 0 and 1 swapped",
    "left out": "no segment vectors",
}


def segment_means(traced: Trace, movement: Movement) -> dict[str, Values]:
    """How far the vectors of each segment move, (L+1,), averaged over its tokens."""
    ids = np.array(traced.segment_ids)
    present = sorted(set(traced.segment_ids))
    return {f"segment {'AB'[each % 2]}": movement.distance[:, ids == each].mean(axis=1) for each in present}


def segment_movement_by_layer(traced: Trace, change: SegmentChange) -> Figure:
    """Draw how far vectors move, layer by layer, when the segments are changed.

    Errors: those of ``segment_movement``.
    """
    movement = segment_movement(traced, change)
    places, means = AxisPlaces(STATES, range(len(movement.distance))), segment_means(traced, movement)
    return settled(lines(means, places, _DISTANCE, title="How far vectors move, on average"))


def segment_movement_by_token(traced: Trace, change: SegmentChange, token: int = 0) -> Figure:
    """Draw how far each token's last vector moves; in a long text, for ``token`` and the tokens that move farthest."""
    moved, n = segment_movement(traced, change).distance[-1], len(traced)
    shown = heaviest(moved.astype(np.float32), token, min(n, BARS))
    part = "" if n <= BARS else f", the {len(shown)} of {n} that move farthest"
    title = f"How far each token’s last vector moves{part}"
    return bars([traced.labels[i] for i in shown], moved[shown], _DISTANCE, title=title)


def other_segments(trace: Trace, movement: Movement) -> str:
    """Say how far the last vectors move on average when the segments change, and which vector moves farthest."""
    last = movement.distance[-1]
    if not last.any():
        return "Nothing moves: every number stays the same."
    most = int(last.argmax())
    return (
        f"On average, a vector has moved by {float(last.mean()):.2f} of its length. The vector of "
        f"{quoted(trace.labels[most])} has moved farthest, by {float(last[most]):.2f}."
    )


def without_segments(config: ModelConfig) -> str | None:
    """Say why a model has no segment vectors, for a sentence that begins with its name; None if it has them."""
    if config.segments > 1:
        return None
    return WRITES_ON if config.causal else _NOT_ASKED


def show_segments(view: EmbeddingView) -> None:
    """Show the tokens in the colours of their segments; run the pair with other segments, and show what moves."""
    say(f"GPT-2 {WRITES_ON}")
    draw_chips(encoding_chips(view.trace.encoding), groups=view.trace.segment_ids)
    st.caption("Each segment has its colour.")
    with sidebar.controls():
        change = SEGMENTS.choose("Run the pair again with the segments", SEGMENTS.options)
    _show_movement(view, segment_movement(view.trace, change), change)
    code(segment_movement)


def segments_listed(ids: Sequence[int]) -> str:
    """The tokens of each segment, counted from 1."""
    told = []
    for segment in sorted(set(ids)):
        places = [place for place, each in enumerate(ids, start=1) if each == segment]
        told.append(f"{_NAMES[segment % 2]} (id {segment}) is tokens {places[0]} to {places[-1]}")
    return ", ".join(told)


def _show_movement(view: EmbeddingView, movement: Movement, change: SegmentChange) -> None:
    trace = view.trace
    if not movement.distance.any():
        say(other_segments(trace, movement))
        return
    draw(partial(segment_movement_by_layer, trace, change), "segment-layers")
    draw(partial(segment_movement_by_token, trace, change, view.token), "segment-tokens")
    told = [f"{float(line[-1]):.3f} in {name}" for name, line in segment_means(trace, movement).items()]
    say(
        f"With {_CHANGES[change]}, the vectors after the last layer move by {' and '.join(told)}, on average. A "
        "distance of 1 means that a vector moved as far as it is long."
    )
    say(other_segments(trace, movement))
    if movement.follows is not None:
        before, after = movement.follows
        label, rise = "The second sentence follows the first", f"{after - before:+.3f}"
        help_ = f"The model’s next-sentence prediction. With the true segments, the probability is {before:.3f}."
        st.metric(label, f"{after:.3f}", rise, border=True, delta_color="off", help=help_)
