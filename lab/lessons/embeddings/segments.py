"""The effect of segment vectors: the part of the embeddings lesson that runs a pair with other segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import Movement, SegmentChange, segment_movement
from lab.charts.tokens.encoding import encoding_chips
from lab.course.sentences.examples import example_named
from lab.lessons.embeddings import change_figures, meanings
from lab.lessons.embeddings.screens import EmbeddingView
from lab.ui import sidebar
from lab.ui.chips import draw_chips
from lab.ui.drawing import code, draw
from lab.ui.parameters import SEGMENTS
from lab.ui.terms import say

EXAMPLE = example_named("A pair that follows")
_NAMES = "AB"
_CHANGES: Mapping[SegmentChange, str] = {
    "all 0": "all ids set to 0",
    "swapped": "ids 0 and 1 swapped",
    "left out": "no segment vectors",
}


def show_segments(view: EmbeddingView) -> None:
    """Show the tokens in the colours of their segments; run the pair with other segments, and show what moves."""
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
        say(meanings.other_segments(trace, movement))
        return
    draw(partial(change_figures.segment_movement_by_layer, trace, change), "segment-layers")
    draw(partial(change_figures.segment_movement_by_token, trace, change, view.token), "segment-tokens")
    told = [f"{float(line[-1]):.3f} in {name}" for name, line in change_figures.segment_means(trace, movement).items()]
    say(
        f"With {_CHANGES[change]}, the vectors after the last layer move by {' and '.join(told)}, on average. A "
        "distance of 1 means that a vector moved as far as it is long."
    )
    say(meanings.other_segments(trace, movement))
    if movement.follows is not None:
        before, after = movement.follows
        label, rise = "The second sentence follows the first", f"{after - before:+.3f}"
        help_ = f"The model’s next-sentence prediction. With the true segments, the probability is {before:.3f}."
        st.metric(label, f"{after:.3f}", rise, border=True, delta_color="off", help=help_)
