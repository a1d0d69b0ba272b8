"""The result of each question: the shares of right answers by round, the gain from discussion, the common error."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from lab.charts.base.chart_table import to_csv
from lab.course.words import plain, signed
from lab.questions.question import letter, lettered
from lab.rooms.counts import Counts
from lab.rooms.seen import Told
from lab.rooms.states import ROUND


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
