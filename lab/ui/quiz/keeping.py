"""The learner's progress in the browser's own storage, so that it survives a reload."""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from lab.questions.progress import MAX_BYTES, Progress
from lab.questions.progress_file import ProgressFileError, read
from lab.ui import selection
from lab.ui.quiz.question import progress, remember
from lab.ui.reports import ProgressKept, heard

KEY = "keeping"
_WHO, _HEARD = "_keeping_who", "_keeping_heard"
# Prefixes of the session's keys for questions, their answers, and a progress file.
_ANSWERS = ("_asked.", "_predict.", "_check.", "_earlier.", "_before.", "_after.", "_file.")


def keep_in_browser() -> None:
    """Let the browser store this session's progress, or report what another visit stored.

    Call this function last on a page.
    """
    data = {
        "by": st.session_state.setdefault(_WHO, secrets.token_hex(8)),
        "heard": st.session_state.get(_HEARD, ""),
        "progress": "" if progress() == Progress() else progress().to_json(),
        "most": MAX_BYTES,
    }
    _component()(key=KEY, data=data, on_kept_change=_take)


def start_afresh() -> None:
    """Forget every answer and every step seen, here and in the browser. For a button's callback."""
    remember(Progress())
    for name in [str(name) for name in st.session_state if str(name).startswith(_ANSWERS)]:
        del st.session_state[name]


def _take() -> None:
    """Add the progress that the browser has stored, before the page is drawn again. Anybody may have written it."""
    report = heard(st.session_state[KEY], ProgressKept)
    if report is None:
        return
    st.session_state[_HEARD], text = report.kept
    try:
        kept, _ = read(text.encode("utf-8", "replace"))
    except ProgressFileError:
        selection.note("The lab cannot read the progress that this browser kept, so you start from the beginning.")
    else:
        remember(progress().merged(kept))


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("lab.keeping", js=Path(__file__).with_name("keeping.js").read_text("utf-8"))
