"""The map of the way on the first page: each stop drawn from the run above it, and the doors to its lessons."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from lab.charts.tokens.word_bars import word_bars
from lab.course.lessons import LESSONS, Lesson, number, script
from lab.figures.way import COLUMNS, ROWS, Sketched, way
from lab.front.experiment import Asked
from lab.ui import progress_view, selection
from lab.ui.quiz.question import progress

_IN_A_ROW = 3
_BY_ID = {lesson.id: lesson for lesson in LESSONS}


def show(now: Asked) -> None:
    """Six stops, three in a row; on a phone one below the other. The last keeps the answer until it is asked for."""
    st.caption(f"Drawn from this run: at most the first {ROWS} tokens and {COLUMNS} numbers of each.")
    stops = way(now.trace, now.place)
    if not now.answered:
        last = replace(
            stops[-1], told="The last vector becomes a word. Guess it first.", sketch=word_bars((), small=True)
        )
        stops = (*stops[:-1], last)
    for first in range(0, len(stops), _IN_A_ROW):
        for column, stop in zip(st.columns(_IN_A_ROW, gap="medium"), stops[first:], strict=False):
            with column:
                _stop(stop)


def _stop(stop: Sketched) -> None:
    st.html(stop.sketch)
    st.markdown(f"**{stop.name}.** {stop.told}")
    with st.container(gap=None, key=f"doors-{stop.name.lower()}"):
        for lesson in (_BY_ID[each] for each in stop.lessons):
            about = f"{lesson.question} {lesson.minutes} minutes."
            st.page_link(script(lesson.page), label=f"{number(lesson)} · {lesson.title}", icon=lesson.icon, help=about)
            progress_view.steps_badge(lesson)
            progress_view.checks_badge(lesson)


def start() -> None:
    """The one button that leads on: to the first lesson, or to the one where the learner was last."""
    lesson = where_to_go_on()
    begun = any(progress().count(each.id).seen for each in LESSONS)
    label = f"Go on with lesson {number(lesson)}: {lesson.title}" if begun else "Start with lesson 1"
    if st.button(label, type="primary", icon=":material/arrow_forward:"):
        st.switch_page(script(lesson.page), query_params=selection.elsewhere())


def where_to_go_on() -> Lesson:
    """The first lesson with a step that was not seen, after the last one that was begun; the last if all are seen."""
    begun = [lesson for lesson in LESSONS if progress().count(lesson.id).seen]
    if not begun:
        return LESSONS[0]
    last = progress().count(begun[-1].id)
    place = LESSONS.index(begun[-1]) + (last.seen >= last.steps)
    return LESSONS[min(place, len(LESSONS) - 1)]
