"""The series of a room: what its teacher has prepared, as a list and as a file, and questions of the teacher's own."""

from __future__ import annotations

import streamlit as st

from lab.course.pages import LESSONS, number, page_of
from lab.course.words import escaped
from lab.rooms.questions import one_line
from lab.rooms.rooms import MOST_SERIES
from lab.rooms.series import (
    FEWEST_OPTIONS,
    LONGEST,
    LONGEST_OPTION,
    MOST_OPTIONS,
    Own,
    PreparedQuestion,
    Series,
    SeriesError,
    read,
    written,
)
from lab.ui import runs
from lab.ui.parameters import MODEL
from lab.ui.quiz.keeping import chosen_file
from lab.ui.room.bar import show_take
from lab.ui.room.teacher_steps import SAID, add, change_series

_TAKEN, _OWN = "_series.taken", "_series.own"
_LESSONS = {lesson.id: lesson for lesson in LESSONS}
_FIRST = page_of("course").id


def show(code: str, written_series: str, place: int) -> None:
    """Draw the series with its order, its file, and the form for a question of the teacher's own."""
    try:
        series = read(written_series)
    except SeriesError as wrong:
        st.warning(str(wrong))
        return
    if not series.items:
        st.markdown(
            "No questions are prepared. In a lesson, **Keep for later** adds the question on screen; or write your own."
        )
    for at, item in enumerate(series.items):
        _show_item(code, at, item, place)
    _show_own(code)
    _show_file(code, series)


def _show_item(code: str, at: int, item: PreparedQuestion | Own, asked: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"series.{at}"):
        where = _where(item) if isinstance(item, PreparedQuestion) else "your own question"
        done = ":material/check: " if at < asked else ""
        st.markdown(f"{done}**{at + 1}.** {escaped(item.said)} ({where})", width="stretch")
        show_take(code, at, item)
        if at not in (0, asked):
            label, icon = "Up", ":material/arrow_upward:"
            st.button(label, key=f"series.{at}.up", type="tertiary", icon=icon, on_click=_move, args=(code, item))
        label, icon = "Remove", ":material/close:"
        st.button(label, key=f"series.{at}.off", type="tertiary", icon=icon, on_click=_drop, args=(code, item))


def _where(item: PreparedQuestion) -> str:
    lesson, model = _LESSONS.get(item.lesson), item.link.get(MODEL.name, MODEL.default)
    where = "the first page" if lesson is None else f"lesson {number(lesson)}, {escaped(item.step)}"
    return where if model in runs.model_ids() else f"{where}; {MODEL.refusal(model).removesuffix('.')}"


def _show_own(code: str) -> None:
    """Draw the form for a question of the teacher's own: its text, two to five options, the right one first."""
    with st.expander("A question of your own", icon=":material/edit:"), st.form(_OWN):
        st.text_area("Question", key=f"{_OWN}.said", max_chars=LONGEST, height=80)
        st.text_input("The right answer", key=f"{_OWN}.0", max_chars=LONGEST_OPTION)
        for place in range(1, MOST_OPTIONS):
            label = f"Wrong answer {place}" + " (you may leave it empty)" * (place >= FEWEST_OPTIONS)
            st.text_input(label, key=f"{_OWN}.{place}", max_chars=LONGEST_OPTION)
        st.text_input("Why is it right? (you may leave it empty)", key=f"{_OWN}.why", max_chars=LONGEST)
        st.caption("The class gets the answers in alphabetical order. The texts are deleted with the room.")
        st.form_submit_button("Add to the series", on_click=_add_own, args=(code,))


def _add_own(code: str) -> None:
    said, why = (str(st.session_state.get(f"{_OWN}.{name}") or "") for name in ("said", "why"))
    right, *wrong = (one_line(str(st.session_state.get(f"{_OWN}.{place}") or "")) for place in range(MOST_OPTIONS))
    options = sorted([right, *filter(None, wrong)])  # an order that does not tell which one was typed first
    try:
        item = Own(said, tuple(options), options.index(right), why)
    except ValueError as refused:
        st.session_state[SAID] = str(refused)
        return
    if add(code, [item]):
        for name in ("said", "why", *range(MOST_OPTIONS)):  # what was refused stays in the form
            st.session_state[f"{_OWN}.{name}"] = ""


def _show_file(code: str, series: Series) -> None:
    """Offer the series as a file, and add the questions of such a file."""
    if series.items:
        st.download_button(
            "Save the series as a file",
            written(series),
            "inside-bert-series.json",
            "application/json",
            on_click="ignore",
            icon=":material/download:",
        )
    told = chosen_file("series_file", "Add the questions of a file", MOST_SERIES)
    if told is not None and told.file[0] != st.session_state.get(_TAKEN):
        st.session_state[_TAKEN], size, text = told.file
        if size > MOST_SERIES:
            st.session_state[SAID] = f"A series has at most {MOST_SERIES // 1000} kB."
        else:
            _take(code, text)
        st.rerun()


def _take(code: str, text: str) -> None:
    try:
        series = read(text)
        pages = (_FIRST, *_LESSONS)
        asked = [item.lesson for item in series.items if isinstance(item, PreparedQuestion)]
        unknown = [lesson for lesson in asked if lesson not in pages]
        if unknown:
            raise SeriesError("This series has questions of lessons that this lab does not have.")
    except SeriesError as wrong:
        st.session_state[SAID] = escaped(str(wrong))
        return
    add(code, series.items)


def _move(code: str, item: PreparedQuestion | Own) -> None:
    change_series(code, lambda series, asked: (series.moved_up(series.at(item), asked), asked))


def _drop(code: str, item: PreparedQuestion | Own) -> None:
    change_series(code, lambda series, asked: (series.without(series.at(item)), asked - (series.at(item) < asked)))
