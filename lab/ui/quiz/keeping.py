"""The learner's progress in the browser's own storage, so that it survives a reload.

The browser can tell its progress only after a first run. So that a page is not drawn twice for a learner who returns,
the browser says in a cookie that it keeps some; then nothing is drawn until the progress is there.
"""

from __future__ import annotations

import secrets
import time
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from lab.questions.progress import MAX_BYTES, LearnerProgress
from lab.questions.progress_file import ProgressFileError, check_size, read
from lab.ui import selection
from lab.ui.quiz.question_on_screen import progress, remember
from lab.ui.reports import FileChosen, ProgressKept, heard

KEY = "keeping"
_WHO, _HEARD, _WAITED = "_keeping_who", "_keeping_heard", "_keeping_waited"
_AFRESH = "_keeping_afresh"  # when the learner started afresh for the last time, in milliseconds since 1970
_COOKIE = "inside-bert-progress"
_PATIENCE = 3.0  # seconds after which a page is drawn although a browser has not told what it keeps
# Prefixes of the session's keys for questions, their answers, and a progress file.
_ANSWERS = ("_predict.", "_beside.", "_check.", "_file.")


def awaits_progress() -> bool:
    """Return whether the page has to wait for the progress that the browser keeps; then wait for it.

    Only the first run of a visit waits, and only if the browser's cookie says that it keeps some.
    """
    if _WAITED in st.session_state:
        return False
    st.session_state[_WAITED] = True
    if st.context.cookies.get(_COOKIE) != "1":
        return False
    _exchange(waits=True)
    _go_on_after(time.monotonic() + _PATIENCE)
    return True


@st.fragment(run_every=_PATIENCE)
def _go_on_after(moment: float) -> None:
    """Draw the page if the browser has not answered by then, for example because its storage is switched off."""
    if time.monotonic() >= moment:
        st.rerun()


def keep_in_browser() -> None:
    """Let the browser store this session's progress, or report what another visit stored.

    Call this function last on a page.
    """
    _exchange(waits=False)


def _exchange(*, waits: bool) -> None:
    """Show the component that stores and tells; if the page ``waits``, it answers in any case."""
    data = {
        "by": st.session_state.setdefault(_WHO, secrets.token_hex(8)),
        "heard": st.session_state.get(_HEARD, ""),
        "progress": "" if progress() == LearnerProgress() else progress().to_json(),
        "afresh": st.session_state.get(_AFRESH, 0),
        "most": MAX_BYTES,
        "cookie": _COOKIE,
        "waits": waits,
    }
    _component()(key=KEY, data=data, on_kept_change=_take)


def start_afresh() -> None:
    """Forget every answer and every step done, here, in the browser and in its other tabs. For a button's callback."""
    _forget(max(time.time_ns() // 1_000_000, st.session_state.get(_AFRESH, 0) + 1))


def _forget(afresh: int) -> None:
    st.session_state[_AFRESH] = afresh
    remember(LearnerProgress())
    for name in [str(name) for name in st.session_state if str(name).startswith(_ANSWERS)]:
        del st.session_state[name]


def _take() -> None:
    """Add the progress that the browser has stored, before the page is drawn again. Anybody may have written it."""
    report = heard(st.session_state[KEY], ProgressKept)
    if report is None:
        return
    st.session_state[_HEARD], text, afresh = report.kept
    if afresh > st.session_state.get(_AFRESH, 0):
        _forget(afresh)  # the learner has started afresh in another tab
    if not text:
        return  # the browser keeps nothing
    try:
        kept, notes = read(text.encode("utf-8", "replace"))
    except ProgressFileError:
        selection.note("The lab cannot read the progress that this browser kept, so you start from the beginning.")
    else:
        remember(progress().merged(kept))
        for note in notes:
            selection.note(note)


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("lab.keeping", js=Path(__file__).with_name("keeping.js").read_text("utf-8"))


_TAKEN, _SAID = "_file.taken", "_file.said"
_HTML = '<label>{label}<input type="file" accept=".json,application/json"></label>'


def offer_file() -> None:
    """Draw the button for choosing a file, and the result of the last file. Reading a file redraws the page."""
    told = chosen_file("from_file", "Upload progress", MAX_BYTES)
    st.caption(
        f"Choose a file that you downloaded here, at most {MAX_BYTES // 1000} kB. Its answers are added to yours on "
        "this computer. If a question has an answer in both places, this computer’s answer stays."
    )
    if told is not None and told.file[0] != st.session_state.get(_TAKEN):
        st.session_state[_TAKEN], size, text = told.file
        st.session_state[_SAID] = _taken(text.encode("utf-8", "replace"), size)
        st.rerun()
    for kind, message in st.session_state.get(_SAID, ()):
        (st.error if kind == "error" else st.success if kind == "success" else st.warning)(message)


def chosen_file(key: str, label: str, most: int) -> FileChosen | None:
    """Draw a button for choosing a JSON file; return the browser's report on the file just chosen.

    Anybody may have forged the report. The text of a file of more than ``most`` bytes is not sent.
    """
    return heard(_file_component(key, label)(key=key, data={"most": most}, on_file_change=_rerun), FileChosen)


def _taken(data: bytes, size: int) -> list[tuple[str, str]]:
    """Add a file of ``size`` bytes to this session's progress; return messages.

    The browser reports large files without their text.
    """
    try:
        check_size(size)
        loaded, notes = read(data)
    except ProgressFileError as error:
        return [("error", f"{error} Your progress has not changed.")]
    remember(progress().merged(loaded))
    said = f"Added from the file: checks answered {len(loaded.first_tries)}, steps done {len(loaded.done)}."
    return [("success", said), *(("note", note) for note in notes)]


@cache
def _file_component(name: str, label: str) -> ComponentRenderer:
    js, css = (Path(__file__).with_name(f"from_file.{kind}").read_text("utf-8") for kind in ("js", "css"))
    return st.components.v2.component(f"lab.{name}", html=_HTML.format(label=label), js=js, css=css)


def _rerun() -> None:
    """Do nothing: a trigger without a callback is not reported at all."""
