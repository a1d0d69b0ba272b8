"""After class, on paper: every revealed question, its right answer and the result of each round, in one column."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlencode

import streamlit as st

from lab.classroom import question_view, summary
from lab.course.words import stopped
from lab.rooms.seen import Taught, Told
from lab.rooms.server import server

# The printed page has no menus, buttons or second column, and Streamlit's scrolling box is made as long as its content.
# Charts and explanations are not split between pages.
_STYLE = """<style>
.stMainBlockContainer { max-width: 50rem; margin: 0 auto; }
@media print {
  @page { margin: 15mm; }
  .stAppHeader, .stSidebar, .stPopover, .stButton, .stDownloadButton, .st-key-not_on_paper { display: none !important; }
  html, body, #root, #root div:has(.stMain), .stApp, .stAppViewContainer, .stMain {
    position: static !important; display: block !important; height: auto !important; min-height: 0 !important;
    overflow: visible !important; }
  .stMainBlockContainer { padding: 0; max-width: none; }
  [class*="st-key-printed_round"], .stAlert, .stVegaLiteChart, .tokens, li { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
}
</style>"""


def link(code: str) -> str:
    """The link to the page for printing, which has no menus and a light background."""
    return "?" + urlencode({"room": code, "summary": 1, "embed": "true", "embed_options": "light_theme"})


def show(code: str, key: str) -> Taught:
    """Draw the whole page. Raises RoomError, Unreachable."""
    rooms = server().rooms
    taught, asked = rooms.taught(code, key), rooms.summary(code, key)
    if taught.state.asks:
        asked = asked[:-1]
    st.html(_STYLE)
    people = taught.state.people
    st.markdown(f"{datetime.now(UTC):%Y-%m-%d}. People: {people}. Questions: {len(asked)}.")
    with st.container(key="not_on_paper"):
        left_out = " The open question is not on this page yet." if taught.state.asks else ""
        st.markdown(f"Print this page or save it as PDF with the browser’s **Print** (Ctrl+P, on a Mac ⌘P).{left_out}")
        if asked:
            summary.download(asked)
    for told in asked:
        _question(told)
    return taught


def _question(told: Told) -> None:
    st.header(f"{told.number}. {told.question.prompt}", anchor=False)
    st.caption(stopped(told.question.about))
    question_view.explain(told.question)
    st.markdown(summary.said(told))
    summary.commonest_error(told)
    for each in told.rounds:
        with st.container(key=f"printed_round_{told.number}_{each.turn}"):
            if each.turn == 3 and told.third is not None:
                st.markdown(f"**{told.third.prompt}**")
                st.caption(stopped(told.third.about))
            question_view.one_round(each, told, f"printed.{told.number}")
