"""The head view on the page: the lines of one layer of a run, between tokens or words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.analysis.words.words import reduce_to_words, words_of
from lab.benches.head_view.example import tied
from lab.benches.head_view.figures import strongest_edges
from lab.charts.components.head_view import HeadView
from lab.course.sentences.looks import look_head, look_in
from lab.course.words import escaped, head_name, named, percent, quoted
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.components import mount
from lab.ui.drawing import show_numbers
from lab.ui.frame.script import meaning
from lab.ui.parameters import HEADS, TOKENS, UNITS, WORDS
from lab.ui.reports import HeadsShown, heard
from lab.ui.shared.met_again import met_again


def choose_units() -> str:
    """Draw in the sidebar the choice of lines between tokens or between words."""
    with sidebar.controls():
        return UNITS.choose(
            "Lines between",
            help=(
                "Words: a word gets the sum of the attention to its tokens, and gives the mean of the attention from "
                "its tokens, so each row still adds up to 1."
            ),
        )


def first_head(trace: Trace, layer: int) -> int | None:
    """Find the head to begin with, from 0: the head that the lab chooses, if it is in this layer.

    Returns None once the learner has chosen heads.
    """
    found = look_head(trace)
    return found[1] if HEADS.name not in st.session_state and found[0] == layer else None


def show(trace: Trace, layer: int, units: str, first: int | None = None) -> None:
    """Draw the figure, at first with only the head ``first``.

    The reader chooses other heads in the figure, without a rerun.
    """
    heads = asked_heads(trace.model.config.heads, trace.model.id)
    view = head_view_of(trace, layer, units, heads if first is None else (first,))
    if first is not None:  # most heads park on special tokens, and their lines would hide the lines of this head
        view = replace(view, hide=not trace.encoding.special[_favourite(trace, (layer, first))[1]])
    st.markdown(
        "A line runs from a token (left) to one that it looks at (right): the darker the line, the more attention."
    )
    report = heard(mount("head_view", view.payload(), "head_view", states=("heads",)), HeadsShown)
    reported = None if report is None else report.heads
    if reported is not None and reported != st.session_state.get("_head_view.reported"):
        st.session_state["_head_view.reported"] = reported
        if parsed_heads(reported, trace.model.config.heads) is not None or not reported:
            HEADS.set(reported)
    if first is not None:
        meaning(looks_most(trace, (layer, first)))
        met_again(trace.model, (layer, first))
    if (told := tied(trace)) is not None:
        st.markdown(told)
    st.caption(
        "Click a head’s number to switch it on or off; double-click it to see this head alone, with all its lines. "
        "With many heads, you see only the strongest lines. Hover or use the arrow keys to see numbers; click or press "
        "Enter to keep them."
    )
    again = partial(strongest_edges, trace, layer, heads, units == WORDS)
    show_numbers(again, "strongest-edges", again)


def looks_most(trace: Trace, head: Head) -> str:
    """Name the token at which a head looks most from the text's key word. ``head``: layer and head from 0."""
    query, key = _favourite(trace, head)
    row = trace.layer(head[0]).attention[head[1], query]
    return (
        f"From {named(trace, query)}, {head_name(head)} looks most at {named(trace, key)}: that token gets "
        f"{percent(float(row[key]))} of its attention."
    )


def _favourite(trace: Trace, head: Head) -> tuple[int, int]:
    """Find the token that this text is about, and the token at which a head looks most from this token; both from 0."""
    query = look_in(trace, *head).query
    return query, int(trace.layer(head[0]).attention[head[1], query].argmax())


def head_view_of(trace: Trace, layer: int, units: str = TOKENS, heads: tuple[int, ...] = ()) -> HeadView:
    """Make the data of layer ``layer`` (from 0) for the browser, with ``heads`` (from 0) drawn first."""
    attention, encoding = np.asarray(trace.layer(layer).attention), trace.encoding
    labels, special, in_pair = trace.labels, encoding.special, encoding.in_pair
    if units == WORDS:
        words = words_of(encoding)
        attention = reduce_to_words(attention, words.groups)
        labels, special, in_pair = words.labels, words.special, words.in_pair
    second = in_pair.index(True) if True in in_pair else None
    return HeadView(attention, labels, special, trace.model.id, layer, second, is_causal(trace), heads)


def asked_heads(count: int, model_id: str) -> tuple[int, ...]:
    """Read the heads that the link names, from 0; empty for all. If the layer has no such heads, the page says so."""
    asked = HEADS.chosen()
    if not asked:
        return ()
    heads = parsed_heads(asked, count)
    if heads is None:
        selection.note(
            f"{escaped(model_id)} has heads 1 to {count}; {quoted(asked[:20])} names other heads, so all are drawn."
        )
        HEADS.set("")
        return ()
    return heads


def parsed_heads(text: str, count: int) -> tuple[int, ...] | None:
    """Read ``"2.5"`` as (1, 4); None unless every part is the number of a head, from 1 to ``count``."""
    found = [selection.whole_number(part, 1, count) for part in text.split(".")]
    return tuple(sorted({head - 1 for head in found if head is not None})) if None not in found else None
