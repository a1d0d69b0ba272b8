"""Put a hand-written component of :mod:`lab.charts.components` on the page, with its ways to the lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from lab.charts.components import javascript, style
from lab.charts.components.machine_picture import LessonDoor
from lab.charts.kept.keepable import LiveChart
from lab.course.pages import LESSONS, Lesson, number
from lab.ui import selection, taking
from lab.ui.drawing import framed, show_numbers
from lab.ui.selection import Selection


def mount(
    name: str,
    payload: bytes,
    key: str,
    *,
    states: Sequence[str] = (),
    on_change: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Show the component ``name`` with the payload that :func:`lab.charts.components.packing.pack` made for it.

    Parameters
    ----------
    states
        The states that the component may report with ``setStateValue`` or ``setTriggerValue``. Each report causes a
        rerun, so the browser itself answers whatever it can.
    on_change
        Called after a report, before the page is drawn again.

    Returns
    -------
    The states by name, None if nothing was reported. The values come from the browser, so check them.
    """
    if not key.startswith("_"):
        taking.begin_figure(key)
    callbacks: dict[str, Any] = {f"on_{state}_change": on_change or _rerun for state in states}
    result = _component(name)(key=key, data=payload, **callbacks)
    return {state: result.get(state) for state in states}


def draw_tree(call: partial[LiveChart], key: str = "influence-tree") -> None:
    """Show an influence tree with its numbers."""
    chart = call()
    with framed(key):
        mount("influence_tree", chart.payload, key)
        show_numbers(chart.table, key, call, chart)


@cache
def _component(name: str) -> ComponentRenderer:
    return st.components.v2.component(f"lab.{name}", js=javascript(name), css=style(name))


def _rerun() -> None:
    """Do nothing: a state without a callback is not reported at all."""


def doors_at(stop: str, now: Selection, here: str = "") -> list[LessonDoor]:
    """The ways to the lessons about a stop, for the selection ``now``; ``here`` is the id of the lesson on screen."""
    return [door_to(lesson, now, here) for lesson in LESSONS if lesson.stop == stop]


def door_to(lesson: Lesson, now: Selection, here: str = "") -> LessonDoor:
    """The way to a lesson, with an address for readers who open the lesson in a new tab."""
    query = urlencode(selection.link(lesson, now))
    address = f"{lesson.slug}?{query}" if query else lesson.slug
    return LessonDoor(lesson.id, number(lesson), lesson.title, address, lesson.id == here)
