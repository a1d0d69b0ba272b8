"""After class, on paper: every revealed question, its right answer and the result of each round, in one column."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlencode

import streamlit as st

from lab.classroom import summary
from lab.course.words import stopped
from lab.rooms.seen import Taught, Told, revealed
from lab.rooms.server import server
from lab.ui.frame.paper import EMBEDDED, HOW_TO_PRINT, ON_PAPER
from lab.ui.room import question
from lab.ui.room.look import style
from lab.ui.room.picture import show_picture

_STYLE = f"<style>.stMainBlockContainer {{ max-width: 50rem; margin: 0 auto; }}{ON_PAPER}</style>"


def link(code: str) -> str:
    """The link to the page for printing, which has no menus and a light background."""
    return "?" + urlencode({"room": code, "summary": 1, **EMBEDDED})


def show(code: str, key: str) -> Taught:
    """Draw the whole page. Raises RoomError, Unreachable."""
    rooms = server().rooms
    taught, every = rooms.taught(code, key), rooms.summary(code, key)
    asked = revealed(every, taught.state)
    st.html(_STYLE)
    style()
    people = taught.state.people
    st.markdown(f"{datetime.now(UTC):%Y-%m-%d}. People: {people}. Questions: {len(asked)}.")
    with st.container(key="not_on_paper"):
        left_out = " The open question is not on this page yet." if asked != every else ""
        st.markdown(f"{HOW_TO_PRINT}{left_out}")
        if asked:
            summary.download(asked)
    for told in asked:
        _question(told)
    return taught


def _question(told: Told) -> None:
    st.header(f"{told.number}. {told.question.prompt}", anchor=False)
    if told.question.about:
        st.caption(stopped(told.question.about))
    show_picture(told.question.picture)
    question.explain(told.question)
    st.markdown(summary.said(told))
    summary.commonest_error(told)
    with st.container(key=f"printed_rounds_{told.number}"):
        question.rounds(told.rounds, told.question)
