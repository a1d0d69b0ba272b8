"""The model view on the page: all heads of a run and, beside them, the opened head enlarged."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.metrics import METRICS
from lab.analysis.heads.named import trace_chance, trace_names
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.thumbnails import strongest_in, thumbnails
from lab.analysis.heads.values import as_heads, is_causal
from lab.benches.model_view import figures
from lab.charts.components.model_view import Frames, ModelView
from lab.course.words import named
from lab.evidence import notable
from lab.figures import attention
from lab.models.trace import Trace
from lab.ui import runs, selection, sidebar
from lab.ui.components import mount
from lab.ui.drawing import draw, show_numbers
from lab.ui.parameters import COLOUR, CORRECTED, HEAD, KEY_TOKEN, LAYER, TOKEN, VERSION, WEIGHTS
from lab.ui.reports import HeadOpened, heard
from lab.ui.shared.metric_choice import choose_version, threshold

_KEY = "model-view"
_TAKEN, _MARK = "_model_view.taken", "_model_view.mark"
_FEW_HEADS = 8  # if a layer has more heads, the figure is wider
_METRICS = {metric.name for metric in METRICS}
_PATTERNS = [pattern.name for pattern in PATTERNS]


def take_opened(trace: Trace) -> None:
    """Choose a head that was opened in the figure, and the pair of tokens under the pointer.

    Call this function before the selectors are drawn, because a widget's value cannot change afterwards.
    """
    reported = _reported()
    if reported is None or reported == st.session_state.get(_TAKEN):
        return
    st.session_state[_TAKEN] = reported
    block = thumbnails(trace).block
    place = opened_place(reported, trace.model.config.layers, trace.model.config.heads, len(trace))
    if place is None:
        return
    layer, head, query, key = place
    query, key = strongest_in(as_heads(trace.layer(layer).attention)[head], query, key, block)
    for parameter, value in ((LAYER, layer), (HEAD, head), (TOKEN, query), (KEY_TOKEN, key)):
        parameter.set(value + 1)
    told, sent, _ = st.session_state[_MARK]
    st.session_state[_MARK] = (told, sent, (layer, head))


def opened_place(reported: str, layers: int, heads: int, n: int) -> tuple[int, int, int, int] | None:
    """``"2.3.5.1.1760000000000"`` as layer 1, head 2, query 4, key 0; None for a report without meaning.

    The last part is the time of the click, which tells two clicks on one place apart.
    """
    asked = zip(reported.split("."), (layers, heads, n, n), strict=False)
    found = [number - 1 for part, most in asked if (number := selection.whole_number(part, 1, most)) is not None]
    return (found[0], found[1], found[2], found[3]) if len(found) == 4 else None


def choose_colour() -> str:
    """Draw in the sidebar the choice of the frames' colours and, for a metric, of its formula."""
    with sidebar.controls():
        chosen = COLOUR.choose(
            "Colour by", help="A frame around each head shows its metric, or its score for a pattern."
        )
        if chosen in _METRICS:
            choose_version()
    return chosen


def show(trace: Trace, layer: int, head: int, query: int, key: int, colour: str) -> None:
    """Draw the figure, and beside it the opened head (all numbers from 0)."""
    corrected, tau = VERSION.chosen() == CORRECTED, threshold()
    config = trace.model.config
    left, right = st.columns([3, 2] if config.heads <= _FEW_HEADS else [2, 1])
    with left:
        told, opened = _mark(layer, head, config.layers, config.heads)
        view = view_of(trace, opened, frames_of(trace, colour, corrected, tau), told)
        size = view.thumbnails.block
        block = "" if size == 1 else f" A cell shows the largest weight of {size} × {size} tokens."
        st.markdown(
            "Each small map is a head: each row is a token that looks, each column a token that is looked "
            f"at. Click a map to open it.{block}"
        )
        mount("model_view", view.payload(), _KEY, states=("opened",))
        if colour in _PATTERNS:
            st.caption(_beside_chance(trace, colour))
        if view.jobs:
            st.caption(
                "A square in a corner marks a head with a job, measured on many sentences: point at the square to read "
                "the job. Lesson 6 names heads by this text alone, so its names can differ."
            )
        call = partial(figures.head_numbers, trace, corrected, tau)
        show_numbers(call, "heads", call)
    with right:
        _show_opened(trace, layer, head, query, key)


def frames_of(trace: Trace, colour: str, corrected: bool, tau: float) -> Frames | None:
    """Measure the metric or pattern named ``colour`` for every head; None for the weights alone."""
    if colour == WEIGHTS:
        return None
    if colour in _METRICS:
        return figures.metric_frames(trace, colour, corrected, tau)
    return figures.pattern_frames(trace, colour)


def view_of(trace: Trace, at: tuple[int, int] = (0, 0), frames: Frames | None = None, told: int = 0) -> ModelView:
    """Make the data for the browser, with the layer and head ``at`` (from 0) marked as open."""
    jobs = notable.told(runs.head_jobs(trace.model))
    return ModelView(thumbnails(trace), trace.labels, trace.model.id, is_causal(trace), frames, at, told, jobs)


def _beside_chance(trace: Trace, colour: str) -> str:
    """State the values to compare a pattern's scores with, and how many heads are named after it."""
    place, chance = _PATTERNS.index(colour), trace_chance(trace)
    uniform, untrained = float(chance.uniform[place]), float(chance.untrained[place])
    if np.isnan(uniform):
        return "This text has no case of the pattern, or the model is causal and cannot show it."
    named = int(np.count_nonzero(trace_names(trace) == PATTERNS[place].id))
    return (
        f"On this text a uniform head scores {uniform:.3f}, and the best head of the same architecture with random "
        f"weights {untrained:.3f}. {named} of {trace.model.config.layers * trace.model.config.heads} heads are clearly "
        f"above both and named {colour.lower()}."
    )


def _show_opened(trace: Trace, layer: int, head: int, query: int, key: int) -> None:
    """Draw the exact weights of one head; in a long text, only the weights around the chosen pair."""
    draw(partial(attention.attention_map, trace, layer, head, query, key), "opened-head")
    rows, columns = attention.shown(trace, query, key)
    n = len(trace)
    part = (
        ""
        if rows == slice(0, n)
        else f" Of {n} × {n} weights, queries {rows.start + 1}–{rows.stop} and keys "
        f"{columns.start + 1}–{columns.stop} are drawn."
    )
    weight = float(np.asarray(trace.layer(layer).attention)[head, query, key])
    st.caption(f"Outlined: {named(trace, query)} looks at {named(trace, key)} with the weight {weight:.2f}.{part}")


def _reported() -> str | None:
    """Return the head that the browser last reported as opened."""
    report = heard(st.session_state.get(_KEY), HeadOpened)
    return None if report is None else report.opened


def _mark(layer: int, head: int, layers: int, heads: int) -> tuple[int, tuple[int, int]]:
    """Return the number of messages that told the browser which head is open, and the head in the last message.

    A new message is sent only if the browser does not know the head: a click in the figure does not change the data, so
    that the thumbnails need not be sent again.
    """
    told, sent, shown = st.session_state.get(_MARK, (0, (-1, -1), None))
    if _reported() is None:
        shown = sent  # the figure is new, and no head has been clicked yet
    if shown != (layer, head) or sent[0] >= layers or sent[1] >= heads:
        told, sent, shown = told + 1, (layer, head), (layer, head)
    st.session_state[_MARK] = (told, sent, shown)
    return told, sent
