"""The room for its teacher: the way in, the next steps, the result of each round, the files to download."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from lab.classroom import door, people, printed, question_view, summary, third
from lab.course.pages import LESSONS, number
from lab.questions.returning import Returning
from lab.rooms.database import Unreachable
from lab.rooms.rooms import NotNow, RoomError
from lab.rooms.seen import State, Taught, Told
from lab.rooms.server import server
from lab.rooms.states import NEXT, WORTH_DISCUSSING, Phase
from lab.ui import parameters, selection

_SAID, _LESSON = "_room_told", "_room_lesson"
_THIRD = (Phase.THIRD, Phase.THIRD_REVEALED)
_NOW = {
    Phase.LOBBY: "The class is joining. Go to a lesson and ask one of its questions.",
    Phase.OPEN: "Round 1 is open: everybody answers alone.",
    Phase.CLOSED: "Round 1 is closed. Only you see the result.",
    Phase.DISCUSS: "The class discusses.",
    Phase.OPEN_AGAIN: "Round 2 is open: the same question again.",
    Phase.REVEALED: "The answer is revealed.",
    Phase.THIRD: (
        "The third question is open: alone, everybody answers a question of the same kind about another sentence."
    ),
    Phase.THIRD_REVEALED: "The third answer is revealed.",
}
_GO = {
    Phase.CLOSED: "Close the round",
    Phase.DISCUSS: "Let them discuss",
    Phase.OPEN_AGAIN: "Open round 2",
    Phase.REVEALED: "Reveal",
    Phase.THIRD: "Ask a third question",
    Phase.THIRD_REVEALED: "Reveal",
    Phase.LOBBY: "To the next question",
}


def show(code: str, key: str, again: Mapping[str, Returning]) -> Taught:
    """Draw the whole screen. Raises RoomError, Unreachable."""
    taught = server().rooms.taught(code, key)
    phase = taught.state.phase
    st.markdown(f"**{_NOW[phase]}**")
    if said := st.session_state.pop(_SAID, "") or st.session_state.pop(people.SAID, ""):
        st.warning(said, icon=":material/info:")
    _steps(code, key, taught, again)
    if phase is Phase.LOBBY or taught.question is None:
        door.show_way_in(code, 220)
        _to_a_lesson()
    else:
        _question(taught.question, phase)
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        wall = urlencode({"room": code, "projector": 1, "teach": 1})
        st.link_button("Projector", f"?{wall}", icon=":material/co_present:")
        st.link_button("Summary to print", printed.link(code), icon=":material/print:")
        people.show(code, key, taught.state)
        with st.popover("Delete now", icon=":material/delete:"):
            st.markdown("The room and all its answers are deleted at once.")
            st.button("Delete the room", on_click=_delete, args=(code, key))
    summary.show(server().rooms.summary(code, key))
    return taught


def _steps(code: str, key: str, taught: Taught, again: Mapping[str, Returning]) -> None:
    """Draw a button for each phase that may follow."""
    phase = taught.state.phase
    with st.container(horizontal=True):
        for then in (each for each in NEXT[phase] if each in _GO):
            if then is Phase.THIRD and (taught.question is None or taught.question.question.lesson not in again):
                st.markdown("The lab has no third question of this kind.", width="content")
                continue
            go = (code, key, phase, then, taught.question, again)
            st.button(_GO[then], key=f"_room_go.{then.value}", on_click=_go, args=go)


def _go(code: str, key: str, now: Phase, then: Phase, told: Told | None, again: Mapping[str, Returning]) -> None:
    try:
        rooms = server().rooms
        if then is not Phase.THIRD:
            rooms.step(code, key, now, then)
        elif told is not None and (found := third.another(told.question, again)) is not None:
            rooms.ask_third(code, key, found)
        else:
            rooms.step(code, key, now, Phase.LOBBY)
            st.session_state[_SAID] = third.NONE
    except Unreachable:
        st.session_state[_SAID] = "The database for rooms does not respond. Nothing was changed; try again in a moment."
    except NotNow as refused:
        st.session_state[_SAID] = str(refused)
    except RoomError as refused:
        door.leave(str(refused))
    server().forget()


def _question(told: Told, phase: Phase) -> None:
    question = told.third if phase in _THIRD and told.third is not None else told.question
    revealed = phase in (Phase.REVEALED, Phase.THIRD_REVEALED)
    question_view.ask(question)
    question_view.list_options(question)
    if phase not in (Phase.OPEN, Phase.OPEN_AGAIN, Phase.THIRD):
        question_view.rounds(told.rounds, told, "room.taught", revealed=revealed)
        _hint(told, phase)
    if revealed:
        question_view.explain(question)
        question_view.see(question, "room.see")


def _hint(told: Told, phase: Phase) -> None:
    """After round 1, say whether a discussion is worth its time, and how many were sure of a wrong answer."""
    first = told.round(1)
    if phase is not Phase.CLOSED or first is None or first.withheld:
        return
    low, high = WORTH_DISCUSSING
    if first.right < low:
        told_ = "Few answers are right. Explain the idea once more before the discussion."
    elif first.right > high:
        told_ = "Most answers are right. A short explanation is enough."
    else:
        told_ = "In this range, a discussion is worth the time."
    sure = (
        f" Sure of a wrong answer: {first.sure_and_wrong}."
        if first.sure_and_wrong
        else " Nobody was sure of a wrong answer."
    )
    st.info(f"{first.right:.0%} of the answers are right. {told_}{sure}", icon=":material/forum:")


def _to_a_lesson() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lesson = st.selectbox(
            "Lesson", LESSONS, key=_LESSON, format_func=lambda each: f"{number(each)} · {each.title}", width=360
        )
        if st.button("Go to the lesson", icon=":material/arrow_forward:", on_click=parameters.TEACH.set, args=(1,)):
            selection.open_page(lesson)


def _delete(code: str, key: str) -> None:
    try:
        server().rooms.delete(code, key)
    except Unreachable:
        st.session_state[_SAID] = "The database for rooms does not respond. The room is still there."
        return
    except RoomError as refused:
        door.leave(str(refused))
    else:
        door.leave("The room and all its answers are deleted.")
    server().forget()


def count(state: State) -> None:
    """Draw the number of people, the number of answers, and a warning if people come in unusually fast."""
    people.warn(state)
    answers = f", {state.answers} answers in this round" if state.phase is not Phase.LOBBY else ""
    st.caption(f"{state.people} in the room{answers}.")
