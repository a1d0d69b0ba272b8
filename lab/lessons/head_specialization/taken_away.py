"""Why do heads know places and sentences? The screen that takes the vectors away that tell them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.heads.first_look import heaviest_key
from lab.analysis.heads.taken_away import POSITIONS, SEGMENTS, lost, without
from lab.course.sentences.looks import look_in
from lab.figures.attention import attention_map
from lab.lessons.head_specialization import meanings
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.one_head import OneHead
from lab.ui.parameters import PAIR, TAKEN, TEXT, TOY

# The two sentences of Vig 2019.
_FIRST, _SECOND = "The rabbit quickly hopped.", "The turtle slowly crawled."


def show_taken_away(view: OneHead) -> None:
    """The best head for the token before, or for the own sentence: its map as it is, and without what tells it."""
    trace = view.trace
    can = _can_be_taken(trace)
    taken = TAKEN.choose("Take away", can)
    found = lost(trace, taken)
    if found is None:
        st.info("This text is too short: no token has another to look at.", icon=":material/edit:")
        return
    changed = without(trace, taken)
    # Outlined is what the head does: its own row, not that of the head in the sidebar.
    row = look_in(trace, found.layer, found.head).query
    key = heaviest_key(trace, found.layer, found.head, row)
    names = ("As it is", f"Without {taken.lower()}")
    for column, traced, name in zip(st.columns(2), (trace, changed), names, strict=True):
        with column:
            title = f"{name}: layer {found.layer + 1}, head {found.head + 1}"
            call = partial(attention_map, traced, found.layer, found.head, row, key, title)
            draw(call, f"taken-away-{name.split()[0].lower()}")
    meaning(meanings.taken_away(taken, found, len({*trace.segment_ids}) > 1))
    st.markdown(
        "Shown is the head with the highest score in **Named patterns** for this. "
        f"{_what_was_done(trace, taken)} Nothing else is changed. The model never met such an input in training. So "
        "this says what the head needs, not how a model would learn without it."
    )
    _offer(view, can, taken)
    code(lost)


def _can_be_taken(trace: Trace) -> tuple[str, ...]:
    return (POSITIONS,) if trace.model.weights.embeddings.segment is None else (POSITIONS, SEGMENTS)


def _what_was_done(trace: Trace, taken: str) -> str:
    if taken == SEGMENTS:
        return "All vectors of segments are set to 0."
    if trace.model.weights.embeddings.position is None:
        return "No query and no key is turned."
    return "All vectors of positions are set to 0."


def _offer(view: OneHead, can: tuple[str, ...], taken: str) -> None:
    """Segments, with two sentences to tell apart."""
    if SEGMENTS not in can or view.page.selection.mode == TOY:
        return
    if taken == POSITIONS:
        why = "segments. Does a head that stays inside a sentence still do so?"
        try_this(why, "Take the segments of a pair", {TEXT: _FIRST, PAIR: _SECOND, TAKEN: SEGMENTS})
    elif not view.trace.pair:
        try_this("a pair: there the segments differ.", "Take a pair", {TEXT: _FIRST, PAIR: _SECOND})
