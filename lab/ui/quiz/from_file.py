"""A progress file from another computer, which the browser reads, so that the server does not have to take uploads."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from lab.questions.progress import MAX_BYTES
from lab.questions.progress_file import ProgressFileError, check_size, read
from lab.ui.quiz.question_on_screen import progress, remember
from lab.ui.reports import FileChosen, heard

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
    return heard(_component(key, label)(key=key, data={"most": most}, on_file_change=_rerun), FileChosen)


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
def _component(name: str, label: str) -> ComponentRenderer:
    js, css = (Path(__file__).with_name(f"from_file.{kind}").read_text("utf-8") for kind in ("js", "css"))
    return st.components.v2.component(f"lab.{name}", html=_HTML.format(label=label), js=js, css=css)


def _rerun() -> None:
    """Do nothing: a trigger without a callback is not reported at all."""
