"""Model view: every head of the model as a small map, and one head enlarged (after BertViz)."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.analysis.heads.comparing import strongest_in, thumbnails
from lab.analysis.heads.metrics import METRICS
from lab.analysis.heads.values import as_heads
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.bench import BenchParts
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import BenchPage
from lab.ui.parameters import COLOUR, HEAD, KEY_TOKEN, LAYER, TOKEN
from lab.ui.reports import HeadOpened, heard
from lab.ui.shared.metric_choice import choose_version

FIGURE = "model-view"
_TAKEN, _MARK = "_model_view.taken", "_model_view.mark"


@dataclass(frozen=True)
class HeadsView:
    """All heads of a run, the opened head, its chosen pair of tokens (all from 0), and what the frames' colours show.

    ``colour`` is the name of a metric or of a pattern, or :data:`lab.ui.parameters.WEIGHTS`.
    """

    trace: Trace
    layer: int
    head: int
    query: int
    key: int
    colour: str


def look(page: BenchPage, trace: Trace, step: str) -> HeadsView:
    """Take the head that was opened, and draw in the sidebar the choices of the head and of the frames' colours."""
    _look_at_opened(trace)
    layer, head = page.head_controls(trace)
    query, key = with_tokens(trace, (layer, head))
    return HeadsView(trace, layer, head, query, key, _choose_colour())


def _choose_colour() -> str:
    """Draw in the sidebar the choice of the frames' colours and, for a metric, of its formula."""
    with sidebar.controls():
        chosen = COLOUR.choose(
            "Colour by", help="The frame around each head shows the head’s metric, or its score for a pattern."
        )
        if chosen in {metric.name for metric in METRICS}:
            choose_version()
    return chosen


def _look_at_opened(trace: Trace) -> None:
    """Choose a head that was opened in the figure, and the pair of tokens under the pointer.

    Call this function before the selectors are drawn, because a widget's value cannot change afterwards.
    """
    reported = _chosen_by_click()
    if reported is None or reported == st.session_state.get(_TAKEN):
        return
    st.session_state[_TAKEN] = reported
    block = thumbnails(trace).block
    place = chosen_place(reported, trace.model.config.layers, trace.model.config.heads, len(trace))
    if place is None:
        return
    layer, head, query, key = place
    query, key = strongest_in(as_heads(trace.layer(layer).attention)[head], query, key, block)
    for parameter, value in ((LAYER, layer), (HEAD, head), (TOKEN, query), (KEY_TOKEN, key)):
        parameter.set(value + 1)
    told, sent, _ = st.session_state[_MARK]
    st.session_state[_MARK] = (told, sent, (layer, head))


def chosen_place(reported: str, layers: int, heads: int, n: int) -> tuple[int, int, int, int] | None:
    """``"2.3.5.1.1760000000000"`` as layer 1, head 2, query 4, key 0; None for a report without meaning.

    The last part is the time of the click, which tells two clicks on one place apart.
    """
    asked = zip(reported.split("."), (layers, heads, n, n), strict=False)
    found = [number - 1 for part, most in asked if (number := selection.whole_number(part, 1, most)) is not None]
    return (found[0], found[1], found[2], found[3]) if len(found) == 4 else None


def _chosen_by_click() -> str | None:
    """Return the head that the browser last reported as opened."""
    report = heard(st.session_state.get(FIGURE), HeadOpened)
    return None if report is None else report.opened


def chosen_mark(layer: int, head: int, layers: int, heads: int) -> tuple[int, tuple[int, int]]:
    """Return the number of messages that told the browser which head is open, and the head in the last message.

    A new message is sent only if the browser does not know the head: a click in the figure does not change the data, so
    that the thumbnails need not be sent again.
    """
    told, sent, shown = st.session_state.get(_MARK, (0, (-1, -1), None))
    if _chosen_by_click() is None:
        shown = sent  # the figure is new, and no head has been clicked yet
    if shown != (layer, head) or sent[0] >= layers or sent[1] >= heads:
        told, sent, shown = told + 1, (layer, head), (layer, head)
    st.session_state[_MARK] = (told, sent, shown)
    return told, sent


PARTS: BenchParts[HeadsView] = BenchParts(look=look)
