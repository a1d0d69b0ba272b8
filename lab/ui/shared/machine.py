"""The picture of the whole model on a page: its chosen layer, token and head, the untrained twin, the lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from lab.charts.components.machine import OnPage
from lab.course.pages import LESSONS, lesson_of
from lab.figures.machine import first_watched, machine
from lab.models.catalogue import twin_id
from lab.models.cores import one_core
from lab.models.memo import kept
from lab.models.trace import Trace, trace_encoding
from lab.ui import runs, selection
from lab.ui.components import mount
from lab.ui.doors import doors_at
from lab.ui.drawing import show_numbers
from lab.ui.parameters import TOKEN, TWIN_SEED
from lab.ui.reports import PictureActed, heard

# The stop on the way from text to word that each part is about.
STOP_OF = {
    "tokens": "Tokens",
    "vectors": "Vectors",
    "attention": "Attention",
    "neurons": "Feed-forward",
    "word": "Word",
}


@dataclass(frozen=True)
class _Seen:
    """What is chosen in a figure of the run ``of``: a token, the layer that is sent, an open head, the twin; from 0."""

    of: object
    watched: int
    layer: int | None = None
    head: int | None = None
    twin: bool = False


def show_machine(
    trace: Trace,
    key: str,
    *,
    here: str = "",
    watched: int | None = None,
    waits: bool = False,
    found: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Draw the whole model at work on the text of ``trace``.

    Parameters
    ----------
    key
        A name of the figure, which keeps what is chosen in it.
    here
        The id of the lesson on screen, whose part is marked.
    watched
        The token that is watched until somebody chooses.
    waits
        Whether the words are withheld, because the page asks for them.
    found
        By the part's id, what was found there.
    """
    _go_through(key)
    seen = _seen(trace, key, watched)
    has_twin = trace.model.id in runs.model_ids()
    shown = _twin_of(trace) if seen.twin and has_twin else trace
    call = partial(machine, shown, seen.watched, seen.layer, seen.head)
    figure = kept(shown, (machine, seen.watched, seen.layer, seen.head), call)
    now = selection.current()
    page = OnPage(
        doors={part: doors_at(stop, now, here) for part, stop in STOP_OF.items()},
        found=found or {},
        marked=_part_of(here),
        twin=seen.twin if has_twin else None,
        waits=waits,
    )
    mount("machine", figure.payload(page), key, states=["act"], on_change=partial(_act, trace, key, watched))
    if seen.twin:
        st.caption("Untrained: the same parts with random weights, before the first training step. Nothing is learned.")
    if not waits:
        show_numbers(figure.table, f"{key}-numbers", call)


@st.dialog("The whole machine", width="large")
def open_machine(trace: Trace, lesson: str) -> None:
    """Show the whole model over the page of a lesson, with the lesson's part marked."""
    token = TOKEN.chosen() - 1
    show_machine(trace, f"machine-{lesson}", here=lesson, watched=token if 0 <= token < len(trace) else None)


def _part_of(lesson: str) -> str:
    """The part that a lesson is about; "" for no lesson."""
    stop = lesson_of(lesson).stop if lesson else ""
    return next((part for part, its in STOP_OF.items() if its == stop), "")


def _seen(trace: Trace, key: str, watched: int | None) -> _Seen:
    """What is chosen in the figure; everything begins anew with another text or model."""
    of = (trace.model.id, trace.token_ids)
    found = st.session_state.get(f"{key}.seen")
    if isinstance(found, _Seen) and found.of == of:
        return found
    return _Seen(of, first_watched(trace) if watched is None else watched)


def _twin_of(trace: Trace) -> Trace:
    """The same tokens through the untrained twin of the model."""
    seed = TWIN_SEED.chosen()

    def run() -> Trace:
        with one_core():
            return trace_encoding(runs.model(twin_id(trace.model.id, seed)), trace.encoding, trace.interventions)

    return kept(trace, (_twin_of, seed), run)


def _act(trace: Trace, key: str, watched: int | None) -> None:
    """Read a browser's report, before the page is drawn again."""
    report = heard(st.session_state.get(key), PictureActed)
    seen, config = _seen(trace, key, watched), trace.model.config
    match () if report is None else report.act:
        case [str(), "watch", int(token)] if 0 <= token < len(trace):
            seen = replace(seen, watched=token)
        case [str(), "layer", int(layer)] if 0 <= layer < config.layers:
            seen = replace(seen, layer=layer, head=None)
        case [str(), "open", int(layer), int(head)] if 0 <= layer < config.layers and 0 <= head < config.heads:
            seen = replace(seen, layer=layer, head=head)
        case [str(), "close"]:
            seen = replace(seen, head=None)
        case [str(), "twin", 0 | 1 as on]:
            seen = replace(seen, twin=bool(on))
        case [str(), "door", str(door)] if any(door == lesson.id for lesson in LESSONS):
            st.session_state[f"{key}.door"] = door
    st.session_state[f"{key}.seen"] = seen


def _go_through(key: str) -> None:
    """Open the lesson whose number in the figure was clicked."""
    if door := st.session_state.pop(f"{key}.door", ""):
        selection.open_page(lesson_of(door))
