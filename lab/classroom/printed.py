"""The page of a room that prints: before the class its answer key, then every revealed question with its result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

import streamlit as st

from lab.classroom import summary
from lab.classroom.class_plans import Written
from lab.course.pages import Lesson, page_of
from lab.course.words import escaped
from lab.questions.question import Question
from lab.rooms.seen import Taught, Told, revealed
from lab.rooms.series import Own, PreparedQuestion, SeriesError, own_question, read, said_of
from lab.rooms.server import server
from lab.ui.frame.paper import EMBEDDED, HOW_TO_PRINT, ON_PAPER
from lab.ui.room import room_question
from lab.ui.room.room_look import style

_STYLE = f"<style>.stMainBlockContainer {{ max-width: 50rem; margin: 0 auto; }}{ON_PAPER}</style>"


def link(code: str) -> str:
    """The link to the page for printing, which has no menus and a light background."""
    return "?" + urlencode({"room": code, "summary": 1, **EMBEDDED})


def show(code: str, key: str, written: Written) -> Taught:
    """Draw the whole page. Raises RoomError, Unreachable."""
    rooms = server().rooms
    taught, every = rooms.taught(code, key), rooms.summary(code, key)
    st.html(_STYLE)
    style()
    # A class that has begun may see the teacher's screen, so no answer is on this page before it is revealed.
    if taught.state.number:
        _show_summary(taught, revealed(every, taught.state), every)
    else:
        _show_key(taught.series, written)
    return taught


def _show_summary(taught: Taught, asked: Sequence[Told], every: Sequence[Told]) -> None:
    st.markdown(f"{datetime.now(UTC):%Y-%m-%d}. People: {taught.state.people}. Questions: {len(asked)}.")
    with st.container(key="not_on_paper"):
        left_out = " The open question is not on this page yet." if asked != every else ""
        st.markdown(f"{HOW_TO_PRINT}{left_out}")
    for told in asked:
        room_question.ask(told.question, f"{told.number}. ")
        room_question.explain(told.question)
        st.markdown(summary.said(told))
        summary.commonest_error(told)
        with st.container(key=f"printed_rounds_{told.number}"):
            room_question.rounds(told.rounds, told.question)


def _show_key(series: str, written: Written) -> None:
    """Draw the prepared questions with their answers, for the teacher's desk."""
    try:
        items = read(series).items
    except SeriesError as wrong:
        st.warning(str(wrong))
        return
    st.markdown(f"The answer key. Prepared questions: {len(items)}.")
    with st.container(key="not_on_paper"):
        st.markdown(HOW_TO_PRINT)
    for place, item in enumerate(items, start=1):
        if (found := _question_of(item, written)) is not None:
            room_question.ask(found, f"{place}. ")
            room_question.explain(found)
        else:
            st.header(f"{place}. {escaped(item.said)}", anchor=False)
            st.markdown("The lab computes the answer from the sentence when you ask.")


def _question_of(item: PreparedQuestion | Own, written: Written) -> Question | None:
    """The question of a series with its answer; None if the answer depends on a sentence."""
    if isinstance(item, Own):
        return own_question(item)
    page = page_of(item.lesson)
    found = written(page) if isinstance(page, Lesson) else ()
    return next((each for each in found if item.asks(each.lesson, said_of(each))), None)
