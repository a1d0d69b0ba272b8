"""The strip "you are here": one line at the top of a page with the stops from text to word, linked to their lessons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.charts.components.packing import pack
from lab.course.pages import LESSONS, STOPS, lesson_of, stop_of
from lab.ui import parameters, runs, selection
from lab.ui.components import doors_at, mount
from lab.ui.reports import LessonAsked, heard

if TYPE_CHECKING:
    from lab.models.trace import Trace

_ASKED = "_strip_asked"


def show(trace: Trace | None, lessons: Sequence[str], here: str = "") -> None:
    """Draw the strip for a page about these ``lessons`` (ids); :func:`leave` opens the lesson that somebody clicks.

    ``here`` is the id of the page's own lesson, "" for a bench or an experiment. ``trace`` gives the shapes of the
    model's numbers for the text on screen; None if the model cannot read the text.
    """
    report = heard(mount("strip", pack(_header(trace, lessons, here), {}), "strip", states=("lesson",)), LessonAsked)
    asked = None if report is None else report.lesson
    if asked != here and any(asked == lesson.id for lesson in LESSONS):
        st.session_state[_ASKED] = asked


def leave() -> None:
    """Go to the lesson that was clicked.

    Call this function after the page is drawn, because only then are all widgets of the page known.
    """
    asked = st.session_state.pop(_ASKED, None)
    if asked is not None:
        selection.open_page(lesson_of(asked))


def shapes(trace: Trace) -> dict[str, str]:
    """Return the sizes at each stop, by name: the numbers of ids, vectors (and their width), maps, neurons, words."""
    config, n = trace.model.config, len(trace)
    return {
        "Tokens": f"{n} ids",
        "Vectors": f"{n} × {config.width:,}",
        "Attention": f"{config.heads} maps {n} × {n}",
        "Feed-forward": f"{n} × {config.ffn_width:,}",
        "Word": "no word predicted" if trace.model.headless else f"{config.vocabulary:,} tokens",
    }


def _model() -> str:
    """Return the id of the page's model; "" for a toy that is no model of layers."""
    return "" if parameters.MODE.chosen() == parameters.TOY else parameters.MODEL.chosen()


def _header(trace: Trace | None, lessons: Sequence[str], here: str) -> dict[str, Any]:
    lit, there = stop_of(lessons), {} if trace is None else shapes(trace)
    now = selection.current()
    return {
        "layers": runs.layers(_model()) if trace is None else trace.model.config.layers,
        "stops": [
            {
                "name": stop.name,
                "shape": there.get(stop.name, ""),
                "lit": stop is lit,
                "repeats": stop.repeats,
                "lessons": [vars(door) for door in doors_at(stop.name, now, here)],
            }
            for stop in STOPS
        ],
    }
