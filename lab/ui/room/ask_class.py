"""Put a lesson's question to the class, or into the series that a teacher prepares; the lesson stays on screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from lab.charts.base.figure import Figure
from lab.figures.attention import place
from lab.questions.question import Question
from lab.rooms.series import Own, PreparedQuestion, Series, read, written
from lab.rooms.server import server
from lab.ui import address, parameters, selection
from lab.ui.quiz.question_on_screen import about
from lab.ui.room.here import code_here
from lab.ui.room.seat import key_of, told
from lab.ui.room.teacher_steps import SAID, change

NOT_ADDED = "Nothing was added, because the series has it already."


def add(code: str, items: Sequence[PreparedQuestion | Own]) -> bool:
    """Add questions at the end of the series, and keep a sentence that says what became of it; return if it worked."""
    counts = []

    def added(series: Series, asked: int) -> tuple[Series, int]:
        longer = series.with_items(items)
        counts.extend([len(series.items), len(longer.items)])
        return longer, asked

    if not change_series(code, added):
        return False
    before, after = counts
    new = "1 question was" if after - before == 1 else f"{after - before} questions were"
    st.session_state[SAID] = f"{new} added. The series has {after} now." if after > before else NOT_ADDED
    return after > before


def change_series(code: str, make: Callable[[Series, int], tuple[Series, int]]) -> bool:
    """Change the series, and how many of its questions were asked, or keep a sentence that says why it failed."""

    def write() -> None:
        rooms, key = server().rooms, key_of(code)
        taught = rooms.taught(code, key)
        series, asked = make(read(taught.series), taught.place)
        rooms.set_series(code, key, written(series), asked)

    return change(write)


# The questions that the page offers to the class, by their texts, each with its figure; the bar takes them over.
OFFERED = "_room_offered"


def offer(
    lesson: str,
    question: Question,
    key: str,
    figure: Figure | None,
    of: str = "",
    link: Mapping[str, str] | None = None,
) -> None:
    """Draw, for the teacher of a room, the buttons that ask the class; for others, the button that opens a room.

    The class sees ``figure``. ``of`` names the layer and head that the question is about, and ``link`` leads to it, by
    default to what is on screen; unless the question itself says what it is about.
    """
    code = code_here()
    if not key_of(code):
        if not code or told(code) is not None:
            st.button("Open a room", key=f"{key}.open", icon=":material/groups:", on_click=_open)
        return
    shown = dict(selection.link() if link is None else link)
    if not of and {"layer", "head"} <= address.shown().keys():
        of = place(parameters.LAYER.chosen() - 1, parameters.HEAD.chosen() - 1)
    shown_at = shown | {parameters.STEP.name: parameters.STEP.chosen()}
    # A written question says itself what it is about, whatever is on screen.
    says = "" if question.always else question.about or about(shown, of)
    asked = replace(question, lesson=lesson, about=says, link=shown_at)
    st.session_state.setdefault(OFFERED, {})[asked.prompt] = (asked, figure)
    label, icon = "Ask the class", ":material/groups:"
    st.button(label, key=f"{key}.class.ask", icon=icon, on_click=ask, args=(code, asked, figure))
    st.button(
        "Keep for later",
        key=f"{key}.class.keep",
        icon=":material/playlist_add:",
        type="tertiary",
        help="Add this question to the series of this room",
        on_click=_keep,
        args=(code, asked),
    )


def reveal() -> str:
    """The label of a button that shows an answer on the page: in a room, the class sees nothing of it."""
    return "Reveal here" if key_of(code_here()) else "Reveal"


def _open() -> None:
    """Open a room without leaving the page."""
    from lab.ui.room.here import open_room

    open_room()


def ask(code: str, asked: Question, figure: Figure | None) -> None:
    """Put a question to the class with a picture of the figure, or keep a sentence that says why not."""
    from lab.ui.room.picture import picture
    from lab.ui.room.teacher_steps import change, put

    change(lambda: put(code, replace(asked, picture=picture(figure))))


def _keep(code: str, asked: Question) -> None:
    """Add the question to the series: its page, and what it is about."""
    from lab.rooms.series import PreparedQuestion, said_of

    step = asked.link.get(parameters.STEP.name, "")
    add(code, [PreparedQuestion(asked.lesson, step, dict(asked.link), said_of(asked))])
