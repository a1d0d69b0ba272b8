"""The head view on the page: between tokens or words, of one layer of a run."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.analysis.words.words import reduce_to_words, words_of
from lab.benches.head_view.example import tied
from lab.benches.head_view.figures import strongest_edges
from lab.charts.components.head_view import HeadView
from lab.course.words import escaped, quoted
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.components import mount
from lab.ui.drawing import show_numbers
from lab.ui.parameters import HEADS, TOKENS, UNITS, WORDS


def choose_units() -> str:
    """Sidebar: lines between tokens, or between words."""
    with sidebar.controls():
        return UNITS.choose(
            "Lines between",
            help="Words: to a word the sum over its tokens, from a word the mean, so each row still sums to 1.",
        )


def show(trace: Trace, layer: int, units: str) -> None:
    """The figure. Heads, filters and thresholds are chosen in it, without a rerun."""
    heads = asked_heads(trace.model.config.heads, trace.model.id)
    view = head_view_of(trace, layer, units, heads)
    st.caption(
        "A line runs from a token (left) to one it attends to (right), as opaque as the weight. Of many heads you see "
        "the strongest lines of each token; double click a head’s number to see it alone, with all its lines. Hover or "
        "use the arrow keys for numbers; click or press Enter to lock."
    )
    reported = mount("head_view", view.payload(), "head_view", states=("heads",))["heads"]
    if isinstance(reported, str) and reported != st.session_state.get("_head_view.reported"):
        st.session_state["_head_view.reported"] = reported
        if parsed_heads(reported, trace.model.config.heads) is not None or not reported:
            HEADS.set(reported)
    if (told := tied(trace)) is not None:
        st.markdown(told)
    again = partial(strongest_edges, trace, layer, heads, units == WORDS)
    show_numbers(again, "strongest-edges", again)


def head_view_of(trace: Trace, layer: int, units: str = TOKENS, heads: tuple[int, ...] = ()) -> HeadView:
    """What is sent to the browser for layer ``layer`` (from 0), ``heads`` (from 0) drawn first."""
    attention, encoding = np.asarray(trace.layer(layer).attention), trace.encoding
    labels, special, in_pair = trace.labels, encoding.special, encoding.in_pair
    if units == WORDS:
        words = words_of(encoding)
        attention = reduce_to_words(attention, words.groups)
        labels, special, in_pair = words.labels, words.special, words.in_pair
    second = in_pair.index(True) if True in in_pair else None
    return HeadView(attention, labels, special, trace.model.id, layer, second, is_causal(trace), heads)


def asked_heads(count: int, model_id: str) -> tuple[int, ...]:
    """The heads that the link asks for, from 0; none for all. Says so if there are no such heads."""
    asked = HEADS.chosen()
    if not asked:
        return ()
    heads = parsed_heads(asked, count)
    if heads is None:
        selection.note(
            f"{escaped(model_id)} has heads 1 to {count}; {quoted(asked[:20])} names others, so all are drawn."
        )
        HEADS.set("")
        return ()
    return heads


def parsed_heads(text: str, count: int) -> tuple[int, ...] | None:
    """``"2.5"`` as (1, 4); None unless every part is a head from 1 to ``count``."""
    found = [selection.whole_number(part, 1, count) for part in text.split(".")]
    return tuple(sorted({head - 1 for head in found if head is not None})) if None not in found else None
