"""The teacher's bar below every page: the room, and its next step, without leaving the page."""

from __future__ import annotations

import time
from collections.abc import Mapping

import streamlit as st

from lab.charts.base.figure import Figure
from lab.course.pages import ROOM_PAGE, page_of, page_path
from lab.course.words import escaped, plain, unmarked
from lab.questions.question import Question
from lab.rooms.codes import spaced
from lab.rooms.database import Unreachable
from lab.rooms.rooms import NoSuchRoom, NotTheTeacher
from lab.rooms.seen import State, Taught
from lab.rooms.series import Own, PreparedQuestion, SeriesError, own_question, read, said_of
from lab.rooms.server import server
from lab.rooms.states import ROUND, Phase
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.room.ask_class import OFFERED, ask
from lab.ui.room.here import AWAY, PAUSE
from lab.ui.room.room_question import style
from lab.ui.room.seat import forget_key, key_of
from lab.ui.room.teacher_steps import change, may_ask, now, pass_said, put, show_result, show_steps

# The questions of the page by their texts, each with its figure.
Offered = Mapping[str, tuple[Question, Figure | None]]
_OPENS = "_room_opens"
# The phases in which a question has a result. It waits for a click, as the class may see the teacher's screen.
_CLOSED = (Phase.CLOSED, Phase.DISCUSS, Phase.CLOSED_AGAIN, Phase.REVEALED)
_SHORT = 120  # characters of a question in the bar, which cuts it where its line ends


def show(code: str) -> None:
    """Draw the bar for the teacher of the room ``code``. It looks at the room by itself."""
    style()
    offered: Offered = st.session_state.pop(OFFERED, {})
    with st.container(key="room_bar"):
        st.fragment(_show, run_every=PAUSE)(code, offered)


def _show(code: str, offered: Offered) -> None:
    key = key_of(code)
    try:
        server().is_teachers(code, key)
        taught = server().rooms.taught(code, key)
    except Unreachable:
        st.caption(AWAY)
        return
    except (NoSuchRoom, NotTheTeacher):
        forget_key(code)
        st.rerun()
    pass_said()
    with st.container(horizontal=True, vertical_alignment="center", key="room_bar_row"):
        st.page_link(page_path(ROOM_PAGE), label=f"Room {spaced(code)}", icon=":material/groups:")
        phase = taught.state.phase
        with st.container(key="room_bar_now"):
            st.markdown(f"**{now(taught)}** {counted(taught.state, time.time())}{_which(taught)}")
        show_steps(code, key, taught)
        if phase in _CLOSED and taught.question is not None:
            with st.popover("Result", icon=":material/bar_chart:"):
                show_result(taught.question, phase)
        if may_ask(taught):
            show_next(code, taught, offered)
        st.link_button("Wall", wall(code), icon=":material/co_present:")


def _which(taught: Taught) -> str:
    """Name the question of the room, which need not be the one on the teacher's page."""
    if taught.question is None or taught.state.phase is Phase.LOBBY:
        return ""
    said = plain(unmarked(taught.question.question.prompt))
    return f" *{escaped(said if len(said) <= _SHORT else said[:_SHORT] + '…')}*"


def counted(state: State, at: float) -> str:
    """Say how many have answered at a time, and how long the clock still runs."""
    people = "1 person" if state.people == 1 else f"{state.people} people"
    if state.phase not in ROUND:
        return f"{people} in the room{clock(state.left(at))}."
    return f"{state.answers} of {people} answered{clock(state.left(at))}."


def clock(seconds: int | None) -> str:
    """Write the seconds left on a clock as the end of a sentence; "" without a clock.

    >>> clock(75), clock(0), clock(None)
    (', 1:15 left', ', and the time is up', '')
    """
    if seconds is None:
        return ""
    return f", {seconds // 60}:{seconds % 60:02d} left" if seconds else ", and the time is up"


def wall(code: str) -> str:
    """The link to the wall of a room."""
    return f"{page_of('room').page.split('_', 1)[1].removesuffix('.py')}?room={code}&projector=1"


def show_next(code: str, taught: Taught, offered: Offered) -> None:
    """Draw the button for the next prepared question, if there is one. A page that ``offered`` it asks it at once."""
    try:
        items = read(taught.series).items
    except SeriesError:
        return
    at = taught.place
    if at >= len(items):
        return
    here = (pair for pair in offered.values() if items[at].asks(pair[0].lesson, said_of(pair[0])))
    if (found := next(here, None)) is None:
        show_take(code, at, items[at], of=len(items))
        return
    asked, figure = found
    label, given = f"Ask question {at + 1} of {len(items)}", (code, asked, figure)
    st.button(label, key="_room_next", icon=":material/groups:", type="primary", on_click=ask, args=given)


def show_take(code: str, at: int, item: Own | PreparedQuestion, of: int = 0) -> None:
    """Draw the button for the prepared question at place ``at``, from 0; ``of`` says how many there are, for the next.

    The button opens the page that asks the question. A question of the teacher's own has no page, so it asks it.
    """
    does, key = ("Ask" if isinstance(item, Own) else "Go to"), "_room_next" if of else f"_room_take.{at}"
    label = f"{does} question {at + 1} of {of}" if of else does
    if st.button(label, key=key, icon=":material/arrow_forward:", on_click=_take, args=(code, item)):
        opens = st.session_state.pop(_OPENS, None)
        if isinstance(opens, PreparedQuestion):
            selection.open_page(page_of(opens.lesson), opens.step)


def _take(code: str, item: Own | PreparedQuestion) -> None:
    def take() -> None:
        rooms, key = server().rooms, key_of(code)
        taught = rooms.taught(code, key)
        at = read(taught.series).at(item)
        if isinstance(item, Own):
            put(code, own_question(item))
        else:
            selection.take(item.link, runs.model_ids())
            chosen_tokens.forget()
            parameters.TEACH.set(1)
            st.session_state[_OPENS] = item
            rooms.set_series(code, key, taught.series, at)

    change(take)
