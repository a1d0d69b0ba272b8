"""The pages of a room on paper: its answer key before the class, its results, and the page that a participant keeps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from lab.charts.base.chart_table import to_csv
from lab.classroom.class_plans import Written
from lab.course.pages import Lesson, page_of
from lab.course.words import escaped, in_html, plain, signed
from lab.figures.room import NAMES
from lab.questions.question import Question, letter, lettered
from lab.rooms.counts import Counts
from lab.rooms.seen import Mine, Taught, Told, revealed
from lab.rooms.series import Own, PreparedQuestion, SeriesError, own_question, read, said_of
from lab.rooms.server import server
from lab.rooms.states import ROUND
from lab.ui.frame.look import EMBEDDED, HOW_TO_PRINT, ON_PAPER
from lab.ui.room import room_question
from lab.ui.room.room_question import style

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
        st.markdown(said(told))
        commonest_error(told)
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


def commonest_error(told: Told) -> None:
    """Name the most frequent wrong answer in round 1, if one was more frequent than all the others."""
    error, question = _error(told), told.question
    if error is None:
        return
    st.markdown(f"The commonest wrong option is {lettered(question, error)}. {question.options[error].why}")


def download(asked: Sequence[Told]) -> None:
    """Draw the button that downloads the table of questions and shares, as a file for a spreadsheet."""
    name, mime = "inside-bert-room.csv", "text/csv"
    st.download_button("CSV", to_csv(frame(asked)), name, mime, on_click="ignore", icon=":material/download:")


def frame(asked: Sequence[Told]) -> pd.DataFrame:
    """A table with one line for each question. A round with too few answers is left empty. People are whole numbers."""
    found = pd.DataFrame([_line(told) for told in asked])
    whole = [name for name in found if str(name).startswith(("answers", "sure and wrong"))]
    return found.astype(dict.fromkeys(whole, "Int64"))


def _line(told: Told) -> dict[str, object]:
    line: dict[str, object] = {
        "question": told.number,
        "lesson": told.question.lesson,
        "prompt": plain(told.question.prompt),
        "about": plain(told.question.about),
        "right": letter(told.question.answer),
    }
    for turn in ROUND.values():
        found = _shown(told, turn)
        low, high = (None, None) if found is None else found.interval
        line |= {
            f"answers {turn}": None if found is None else found.count,
            f"counts {turn}": "" if found is None else _counts(found, told),
            f"right {turn}": None if found is None else found.right,
            f"right {turn}, low": low,
            f"right {turn}, high": high,
            f"sure and wrong {turn}": None if found is None else found.sure_and_wrong,
        }
    error = _error(told)
    return line | {
        "normalised gain": _gain(told),
        "commonest wrong option": "" if error is None else letter(error),
    }


def _counts(found: Counts, told: Told) -> str:
    """List how often each option was chosen."""
    names = [f"{letter(place)} {plain(option.text)}" for place, option in enumerate(told.question.options)]
    return "; ".join(f"{name}: {count}" for name, count in zip(names, found.options, strict=True))


def said(told: Told) -> str:
    """State the shares of right answers, and the gain from the discussion."""
    shares = [
        f"round {turn} {found.right:.0%} of {found.count}"
        for turn in ROUND.values()
        if (found := _shown(told, turn)) is not None
    ]
    gain = _gain(told)
    said = ", ".join(shares) if shares else "too few answers to show"
    return f"Right: {said}." + ("" if gain is None else f" Normalised gain from the discussion: {signed(gain)}.")


def _shown(told: Told, turn: int) -> Counts | None:
    found = told.round(turn)
    return None if found is None or found.withheld else found


def _gain(told: Told) -> float | None:
    before, after = _shown(told, 1), _shown(told, 2)
    return None if before is None or after is None else normalised_gain(before.right, after.right)


def _error(told: Told) -> int | None:
    first = _shown(told, 1)
    return None if first is None else first.common_error


def normalised_gain(before: float, after: float) -> float | None:
    """g = (after − before) / (1 − before): the share of the missing points gained (Hake 1998); None if ``before`` is 1.

    >>> round(normalised_gain(0.52, 0.73), 2)
    0.44
    """
    return (after - before) / (1 - before) if before < 1 else None


_KEPT_STYLE = (
    "body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}"
    "img{max-width:100%;background:#fff;border-radius:6px}.right{color:light-dark(#1f7a4d,#7fd1a4);font-weight:600}"
    ".wrong{color:light-dark(#a3362b,#ff9d8f);font-weight:600}section{border-top:1px solid;padding:.5rem 0}"
)


def page(found: Sequence[Mine]) -> str:
    """Write the page as HTML. Whatever somebody typed is text in it, and it loads nothing."""
    body = "".join(_section(number, each) for number, each in enumerate(found, start=1))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        f"style-src 'unsafe-inline'\"><title>My answers</title><style>{_KEPT_STYLE}</style>"
        f"<h1>My answers</h1>{body}</html>"
    )


def _section(number: int, mine: Mine) -> str:
    asked = mine.question
    shown = asked.picture
    image = "" if shown is None else f'<p><img src="{shown.source}" alt="{escape(shown.alt, quote=True)}"></p>'
    about = f"<p>{in_html(asked.about)}</p>" if asked.about else ""
    right = asked.options[asked.answer]
    return (
        f"<section><h2>{number}. {in_html(asked.prompt)}</h2>{about}{image}{_answers(mine)}"
        f"<p>The answer is {in_html(lettered(asked, asked.answer))}. {in_html(right.why)}</p></section>"
    )


def _answers(mine: Mine) -> str:
    asked, told = mine.question, []
    for turn, (value, _) in sorted(mine.answers.items()):
        kind, verdict = ("right", "right") if value == asked.answer else ("wrong", "not right")
        said = in_html(lettered(asked, value))
        told.append(f'<p>{NAMES[turn]}: {said} <span class="{kind}">({verdict})</span></p>')
    return "".join(told) or "<p>You did not answer this question.</p>"
