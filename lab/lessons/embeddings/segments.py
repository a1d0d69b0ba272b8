"""The screen of the embeddings lesson about segments: whose they are, and what they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import Movement, SegmentChange, segment_movement
from lab.charts.tokens.chips import token_chips
from lab.charts.tokens.encoding import encoding_chips
from lab.lessons.embeddings import LESSON, change_figures, checks, meanings
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.encoding import Encoding
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning
from lab.ui.parameters import MODE, SEGMENTS
from lab.ui.quiz.predictions import predict
from lab.ui.sidebar import use_texts

EXAMPLE = ("The children went to the park.", "They played until it was dark.")
_NAMES = "AB"
_CHANGES: Mapping[SegmentChange, str] = {
    "all 0": "all ids 0",
    "swapped": "ids 0 and 1 swapped",
    "left out": "no segment vectors",
}
_BOX = 320  # pixels of a text that scrolls


def show_segments(view: EmbeddingView) -> None:
    """Segment A, segment B, and a run with the ids changed."""
    trace, segments = view.trace, view.trace.model.config.segments
    if segments == 0:
        st.info(
            f"{view.model} has no segment vectors. Only its tokens tell one text from another.",
            icon=":material/info:",
        )
        return
    st.markdown("Two texts can stand in one input. How does the model know which token belongs to which?")
    draw_segments(trace.encoding)
    if segments == 1:
        st.markdown(f"{view.model} has a single segment. Every token gets the same segment vector.")
    elif len(set(trace.segment_ids)) == 1:
        st.markdown("This is one text, so every token is in segment A (id 0).")
        if view.page.selection[MODE] != "Toy":
            st.button("Show a pair of sentences", icon=":material/dynamic_feed:", on_click=_take_pair)
    change = _choose_change(segments, pair=len(set(trace.segment_ids)) > 1)
    movement = segment_movement(trace, change)
    question = checks.first_text_too(movement, trace.encoding) if change == "all 0" else None
    if not predict(LESSON, question):
        return
    _show_movement(view, movement, change)
    code(segment_movement)


def _take_pair() -> None:
    use_texts(*EXAMPLE)


def draw_segments(encoding: Encoding) -> None:
    """The tokens in the colour of their segment."""
    with st.container(height=_BOX if len(encoding) > 160 else "content"):
        st.html(token_chips(encoding_chips(encoding), groups=encoding.segment_ids))
    st.caption(f"The colour is the segment: {_listed(encoding.segment_ids)}.")


def _listed(ids: Sequence[int]) -> str:
    """Where each segment stands, tokens counted from 1."""
    told = []
    for segment in sorted(set(ids)):
        places = [place for place, each in enumerate(ids, start=1) if each == segment]
        told.append(f"{_NAMES[segment % 2]} (id {segment}) is tokens {places[0]} to {places[-1]}")
    return ", ".join(told)


def _choose_change(segments: int, *, pair: bool) -> SegmentChange:
    offered: tuple[SegmentChange, ...] = ("left out",)
    if segments > 1:
        offered = SEGMENTS.options if pair else ("swapped", "left out")
    return SEGMENTS.choose("Run it again with the segments", offered)


def _show_movement(view: EmbeddingView, movement: Movement, change: SegmentChange) -> None:
    trace = view.trace
    if not movement.distance.any():
        meaning(meanings.other_segments(trace, movement, change))
        return
    draw(partial(change_figures.segment_movement_by_layer, trace, change), "segment-layers")
    draw(partial(change_figures.segment_movement_by_token, trace, change, view.token), "segment-tokens")
    told = [f"{float(line[-1]):.3f} in {name}" for name, line in change_figures.segment_means(trace, movement).items()]
    st.markdown(
        f"With {_CHANGES[change]}, the vectors of the last layer move by {' and '.join(told)}, on average. A distance "
        "of 1 means that a vector moved as far as it is long."
    )
    meaning(meanings.other_segments(trace, movement, change))
    if movement.follows is not None:
        before, after = movement.follows
        label, rise = "The second sentence follows the first", f"{after - before:+.3f}"
        help_ = f"Next-sentence prediction, read from the first token. As typed: {before:.3f}."
        st.metric(label, f"{after:.3f}", rise, border=True, delta_color="off", help=help_)
