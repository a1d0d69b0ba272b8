"""The picture of a forming word on a page: the token that is watched, the cuts, and the links to the lessons."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.flow.cuts import Cuts, Way
from lab.analysis.words.masking import is_hidden
from lab.charts.components.word_forms_picture import ALONE, OnPage, WordForms
from lab.course.pages import lesson_of, number
from lab.figures.choices import FITTED, PLAIN
from lab.figures.forming import Forming
from lab.figures.forming_word import word_forms
from lab.models.config import CheckpointError
from lab.models.fitted_lens import fitted_lens
from lab.models.memo import kept
from lab.models.trace import Trace
from lab.ui import address, selection
from lab.ui.components import mount
from lab.ui.drawing import show_numbers
from lab.ui.parameters import CUT, HEAD, KEY_TOKEN, LAYER, READ_WITH, TOKEN, WATCH
from lab.ui.reports import PictureActed, heard
from lab.ui.taking import tell
from lab.ui.texts import put_texts

_OF, _DOOR = "_word_forms_of", "_word_forms_door"
# The lesson to which each part of the picture leads.
_LESSONS = {
    "tokens": "tokenization",
    "vectors": "embeddings",
    "layer": "multi-head-attention",
    "words": "masked-language-model",
    "link": "self-attention",
    "dot": "feed-forward",
}
# The step of the lesson, if it is not the first step that shows what was chosen.
_STEPS = {"link": "map"}
# The places that a link in the picture takes along, from 0.
_CHOSEN = {"layer": (LAYER,), "link": (LAYER, HEAD, TOKEN, KEY_TOKEN), "dot": (LAYER, TOKEN)}


def show_word_forms(trace: Trace, watched: int, key: str, page: OnPage = ALONE, *, here: str = "") -> Forming:
    """Draw the picture of ``trace`` and return its contents.

    Until somebody chooses a token, the picture shows token ``watched``, from 0. ``here`` is the id of the lesson that
    shows the picture; the picture has no link to this lesson.
    """
    _go_through()
    _begin(trace)
    chosen = WATCH.chosen() - 1
    if chosen >= len(trace):
        selection.note(f"There is no token {chosen + 1} to watch: this text has {len(trace)}.")
        WATCH.set(0)
    at = chosen if 0 <= chosen < len(trace) else watched
    cuts = _cuts(trace, at)
    for message in selection.take_notes():  # a click redraws only this part of the page, so the notes are here, too
        st.warning(message, icon=":material/info:")
    lenses = _lenses(trace, at)
    lens = READ_WITH.chosen() if READ_WITH.chosen() in lenses else (lenses[-1] if lenses else "")
    call = partial(word_forms, trace, at, str(cuts), lens == FITTED)
    chart = kept(trace, (word_forms, at, str(cuts), lens), call)
    doors = {part: _told(lesson) for part, lesson in _LESSONS.items() if lesson != here}
    hint = page.hint if at == watched and not cuts else ""
    sent = chart.payload(replace(page, doors=doors, hint=hint, lenses=lenses, lens=lens))
    mount("word_forms", sent, key, states=["act"], on_change=partial(_act, key, trace, at))
    tell(_how_to_read(chart))
    if not page.waits:
        show_numbers(chart.table, key, call, chart)
    address.keep_in_url()
    address.keep(READ_WITH)
    return Forming.of(trace, at, cuts)


def _how_to_read(chart: WordForms) -> str:
    """Say how to read the picture, for its file."""
    blank = "; ▢ is the blank" if chart.is_blank else ""
    words = " On the right are the words that a lens reads from the vector after a layer." if chart.words else ""
    return (
        f"Each row is a token, and the layers follow each other from left to right{blank}. The wider a link, the more "
        f"it brings. The larger a circle, the more the layer adds by itself.{words}"
    )


def _lenses(trace: Trace, watched: int) -> tuple[str, ...]:
    """Return the lenses that can read a token, the plain lens last; none if the model predicts no words.

    A BERT's fitted lens was fitted at hidden words; at a visible word, the plain lens reads more.
    """
    if trace.model.headless:
        return ()
    if trace.model.config.causal or is_hidden(trace, watched):
        with suppress(CheckpointError):  # lesson 9 reports a damaged lens
            if fitted_lens(trace.model) is not None:
                return READ_WITH.options
    return (PLAIN,)


def _begin(trace: Trace) -> None:
    """Remove all cuts if the text or the model has changed, since another model has other heads."""
    now, before = (trace.model.id, trace.token_ids), st.session_state.get(_OF)
    if before not in (None, now):
        CUT.set("")
        WATCH.set(0)
    st.session_state[_OF] = now


def _cuts(trace: Trace, watched: int) -> Cuts:
    cuts, whole = Cuts.read(CUT.chosen(), trace, watched)
    if not whole:
        selection.note("Some cuts in the link do not exist in this text or model. The lab makes the other cuts.")
        CUT.set(str(cuts))
    return cuts


def _act(key: str, trace: Trace, watched: int) -> None:
    """Read a browser's report, before the page is drawn again."""
    cuts, _ = Cuts.read(CUT.chosen(), trace, watched)
    report = heard(st.session_state.get(key), PictureActed)
    reported = () if report is None else report.act
    match reported:
        case [str(), "watch", int(token)] if 0 <= token < len(trace):
            WATCH.set(token + 1)
            CUT.set("")
        case [str(), "lens", str(lens)] if lens in READ_WITH.options:
            READ_WITH.set(lens)
        case [str(), "door", str(door), *where] if door in _LESSONS and all(isinstance(each, int) for each in where):
            st.session_state[_DOOR] = (door, where)
        case _:
            text = str(cuts_after(reported, cuts))
            if len(text) > CUT.longest:
                selection.note("A link cannot hold more cuts. Undo one cut first.")
            else:
                CUT.set(text)


def cuts_after(reported: object, cuts: Cuts) -> Cuts:
    """Return the cuts after a click.

    Anybody may have written the report in ``reported``; a report without meaning does not change the cuts. The token
    numbers are checked when the cuts are read.
    """
    match reported:
        case [str(), "token", int(token)]:
            return cuts.token(token)
        case [str(), "way", int(token), str(way)] if way in {each.value for each in Way}:
            return cuts.cut(token, Way(way))
        case [str(), "link", int(layer), int(query), int(key)]:
            return cuts.link(layer, query, key)
        case [str(), "head", int(layer), int(head), int(query), int(key)]:
            return cuts.in_head(layer, head, query, key)
        case [str(), "heal"]:
            return Cuts()
    return cuts


def _go_through() -> None:
    """Open the lesson whose link in the picture was clicked, at the layer, head and tokens that were chosen."""
    door, where = st.session_state.pop(_DOOR, ("", ()))
    if not door:
        return
    lesson = lesson_of(_LESSONS[door])
    step = lesson.step(_STEPS[door]).name if door in _STEPS else ""
    for parameter, place in zip(_CHOSEN.get(door, ()), where, strict=False):
        parameter.set(place + 1)
    put_texts()
    selection.open_page(lesson, step)


def _told(lesson: str) -> str:
    found = lesson_of(lesson)
    return f"Lesson {number(found)}: {found.title}"
