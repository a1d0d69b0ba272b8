"""The picture of the whole model on a page: its chosen layer, token and head, the untrained twin, the lessons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import streamlit as st

from lab.analysis.words.masking import masked_run
from lab.charts.components.machine_picture import MachineOnPage
from lab.course.pages import LESSONS, lesson_of
from lab.figures.machine_of_run import around, first_watched, machine
from lab.models.catalogue import twin_id
from lab.models.cores import one_core
from lab.models.memo import kept
from lab.models.trace import Trace, trace_encoding
from lab.ui import runs, selection
from lab.ui.components import door_to, doors_at, mount
from lab.ui.drawing import show_numbers
from lab.ui.parameter_kinds import drawn
from lab.ui.parameters import LAYER, TOKEN, TWIN_SEED
from lab.ui.reports import PictureActed, heard

# The stop on the way from text to word that each part is about.
STOP_OF = {
    "tokens": "Tokens",
    "vectors": "Vectors",
    "attention": "Attention",
    "neurons": "Feed-forward",
    "word": "Word",
}
# The lesson about the other way out of the model, which reads a task from the vector of [CLS].
EXIT = "a-task-of-your-own"


@dataclass(frozen=True)
class Lead:
    """What a page offers at each part: a button with this ``label``; ``go`` gets the part's id.

    ``marked`` is the id of the part that the page is about.
    """

    label: str
    go: Callable[[str], None]
    marked: str = ""


@dataclass(frozen=True)
class _Seen:
    """What is chosen in a figure: a token, the layer that is sent, an open head, the twin, a hidden token; from 0.

    ``of`` names the run and what the page has chosen; everything begins anew with another.
    """

    of: object
    watched: int
    layer: int | None
    head: int | None = None
    twin: bool = False
    hidden: int | None = None


@dataclass(frozen=True)
class MachineSetting:
    """What a page says of its figure.

    Attributes
    ----------
    here
        The id of the lesson on screen, whose part is marked.
    watched, layer, twin
        The token that is watched, the layer that is shown, and whether with random weights, until somebody chooses.
    waits
        Whether the words are withheld, because the page asks for them.
    found
        By the part's id, what was found there.
    lead
        What a chosen part offers besides its lessons.
    """

    here: str = ""
    watched: int | None = None
    layer: int | None = None
    twin: bool = False
    waits: bool = False
    found: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lead: Lead | None = None


def show_machine(trace: Trace, key: str, setting: MachineSetting) -> None:
    """Draw the whole model at work on the text of ``trace``; ``key`` names what is chosen in the figure."""
    _go_through(key)
    begin = _begin(trace, setting)
    seen = _seen(key, begin)
    has_twin = trace.model.id in runs.model_ids()
    read = trace if seen.hidden is None else masked_run(trace, (seen.hidden,))
    shown = _twin_of(read) if seen.twin and has_twin else read
    call = partial(machine, shown, seen.watched, seen.layer, seen.head)
    figure = kept(shown, (machine, seen.watched, seen.layer, seen.head), call)
    now = selection.current()
    page = MachineOnPage(
        doors={
            part: [door for door in doors_at(stop, now, setting.here) if door.id != EXIT]
            for part, stop in STOP_OF.items()
        },
        exit=door_to(lesson_of(EXIT), now, setting.here),
        found=setting.found,
        leads="" if setting.lead is None else setting.lead.label,
        marked=_part_of(setting.here) if setting.lead is None else setting.lead.marked,
        twin=seen.twin if has_twin else None,
        waits=setting.waits,
        hides=_hides(trace),
        hidden=seen.hidden is not None,
    )
    mount(
        "machine", figure.payload(page), key, states=["act"], on_change=partial(_act, trace, key, begin, setting.lead)
    )
    if seen.twin:
        st.caption(
            "You see the untrained model: the same parts with random weights, before the first training step. It "
            "has learned nothing."
        )
    if not setting.waits:
        show_numbers(figure.table, key, call, figure)


@st.dialog("The whole machine", width="large")
def open_machine(trace: Trace, lesson: str) -> None:
    """Show the whole model over the page of a lesson, with the lesson's part marked."""
    token, layer = TOKEN.chosen() - 1, LAYER.chosen() - 1
    setting = MachineSetting(
        here=lesson,
        watched=token if 0 <= token < len(trace) else None,
        layer=layer if LAYER.name in drawn() else None,
    )
    show_machine(trace, f"machine-{lesson}", setting)


def _part_of(lesson: str) -> str:
    """The part that a lesson is about; "" for no lesson."""
    stop = lesson_of(lesson).stop if lesson else ""
    return next((part for part, its in STOP_OF.items() if its == stop), "")


def _begin(trace: Trace, setting: MachineSetting) -> _Seen:
    """What a figure shows until somebody chooses."""
    of = (trace.model.id, trace.token_ids, setting.watched, setting.layer)
    watched = first_watched(trace) if setting.watched is None else setting.watched
    return _Seen(of, watched, setting.layer, twin=setting.twin)


def _seen(key: str, begin: _Seen) -> _Seen:
    found = st.session_state.get(f"{key}.seen")
    return found if isinstance(found, _Seen) and found.of == begin.of else begin


def _hides(trace: Trace) -> bool:
    """Whether the model can guess a hidden token."""
    return not trace.model.config.causal and not trace.model.no_words


def _twin_of(trace: Trace) -> Trace:
    """Run the tokens of ``trace`` through the untrained twin of its model."""
    seed = TWIN_SEED.chosen()

    def run() -> Trace:
        with one_core():
            return trace_encoding(runs.model(twin_id(trace.model.id, seed)), trace.encoding, trace.interventions)

    return kept(trace, (_twin_of, seed), run)


def _act(trace: Trace, key: str, begin: _Seen, lead: Lead | None) -> None:
    """Read a browser's report, before the page is drawn again."""
    report = heard(st.session_state.get(key), PictureActed)
    seen, config = _seen(key, begin), trace.model.config
    rows = around(seen.watched, len(trace))
    match () if report is None else report.act:
        case [str(), "watch", int(row)] if 0 <= row < len(rows):
            seen = replace(seen, watched=rows[row])
        case [str(), "layer", int(layer)] if 0 <= layer < config.layers:
            seen = replace(seen, layer=layer, head=None)
        case [str(), "open", int(layer), int(head)] if 0 <= layer < config.layers and 0 <= head < config.heads:
            seen = replace(seen, layer=layer, head=head)
        case [str(), "hide", int(row)] if 0 <= row < len(rows) and _hides(trace):
            seen = replace(seen, watched=rows[row], hidden=rows[row])
        case [str(), "show"]:
            seen = replace(seen, hidden=None)
        case [str(), "close"]:
            seen = replace(seen, head=None)
        case [str(), "twin", 0 | 1 as on]:
            seen = replace(seen, twin=bool(on))
        case [str(), "door", str(door)] if any(door == lesson.id for lesson in LESSONS):
            st.session_state[f"{key}.door"] = door
        case [str(), "part", str(part)] if lead is not None:
            lead.go(part)
    st.session_state[f"{key}.seen"] = seen


def _go_through(key: str) -> None:
    """Open the lesson whose number in the figure was clicked."""
    if door := st.session_state.pop(f"{key}.door", ""):
        selection.open_page(lesson_of(door))
