"""The room for its participants: one question, their answer, how sure they are, and the result."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.classroom import class_teaches, printed
from lab.figures.room import NAMES
from lab.questions.question import Question, lettered
from lab.rooms.database import Unreachable
from lab.rooms.questions import TEACHES
from lab.rooms.rooms import CONFIDENCES, RoomError
from lab.rooms.seen import Seen, State
from lab.rooms.server import server
from lab.rooms.states import ROUND, Phase
from lab.ui.quiz.question_on_screen import list_options
from lab.ui.room import room_question
from lab.ui.room.here import AWAY
from lab.ui.room.room_question import style
from lab.ui.room.seat import stand_up
from lab.ui.room.teacher_steps import show_said

_PENDING, _SAID = "_room_pending", "_room_said"
_SURE = dict(zip(CONFIDENCES, ("Guessing", "Rather sure", "Sure"), strict=True))
_WAIT = {
    Phase.LOBBY: "You are in. Wait for the first question.",
    Phase.CLOSED: "The round is closed. Wait for the next step.",
    Phase.CLOSED_AGAIN: "Round 2 is closed. Wait for the answer.",
    Phase.DISCUSS: (
        "Find somebody who gave another answer, and try to convince each other. Then everybody answers again."
    ),
}


@dataclass(frozen=True)
class _Vote:
    """An answer on its way, and the version of the room for which its form was drawn."""

    code: str
    version: int
    number: int
    turn: int
    value: int
    confidence: int


def show(code: str, seat: str) -> Seen:
    """Draw the state of the room for the participant with this seat. Raises RoomError, Unreachable."""
    deliver(seat)
    style()
    seen = server().rooms.seen(code, seat)
    if not seen.inside:
        st.info(
            "The teacher has removed you from this room, together with others who came late.",
            icon=":material/logout:",
        )
        st.button("Come in again", on_click=stand_up, args=(code,))
        return seen
    phase = seen.state.phase
    question = seen.question
    if question is not None:
        room_question.ask(question)
    if question is not None and question.id == TEACHES:
        show_said()
        if phase is Phase.OPEN:
            class_teaches.show_form(seen, question, seat)
        elif phase is Phase.CLOSED:
            st.info("Writing is over. Wait for the model.", icon=":material/hourglass_empty:")
    elif phase in ROUND and question is not None:
        if phase is Phase.OPEN_AGAIN:
            st.markdown("Round 2: answer again, after the discussion.")
        st.fragment(_form)(seen, question, seat)
    elif question is not None and not question.is_open:
        _show_mine(seen, question)
        room_question.explain(question)
        room_question.rounds(seen.rounds, question, shares=False)
        room_question.see(question, "room.see")
        _offer_page(seen.state.code, seat)
    else:
        if question is not None:
            list_options(question)
            _show_given(seen, question)
        st.info(_waits(seen), icon=":material/hourglass_empty:")
    _say()
    return seen


def deliver(seat: str) -> bool:
    """Send the waiting answer; returns whether an answer was kept or refused. No answer counts twice."""
    vote = st.session_state.get(_PENDING)
    if not isinstance(vote, _Vote):
        return False
    try:
        server().rooms.vote(vote.code, seat, vote.number, vote.turn, vote.value, vote.confidence)
    except Unreachable:
        return False
    except RoomError as refused:
        st.session_state[_SAID] = str(refused)
    else:
        st.session_state[f"_room.{vote.code}.{vote.number}.{vote.turn}"] = (vote.value, vote.confidence, vote.version)
    del st.session_state[_PENDING]
    return True


def _waits(seen: Seen) -> str:
    if seen.state.phase is Phase.LOBBY and seen.state.number:
        return "Wait for the next question."
    return _WAIT[seen.state.phase]


def _form(seen: Seen, question: Question, seat: str) -> None:
    """Draw the fields for the answer and the confidence, and say whether it has arrived.

    A fragment, since a whole class answers at once.
    """
    state, turn = seen.state, ROUND[seen.state.phase]
    name = f"_room.{state.code}.{state.number}.{turn}"
    option, sure = f"{name}.option", f"{name}.sure"
    sent = st.session_state.get(name)
    mine = sent[:2] if sent is not None and sent[2] == state.version else seen.mine.get(turn)
    if mine is not None:
        st.session_state.setdefault(option, mine[0])
        st.session_state.setdefault(sure, mine[1])
    with st.form(f"{name}.form", border=False):
        places = range(len(question.options))
        st.radio("Your answer", places, None, lambda place: lettered(question, place), key=option)
        st.segmented_control("How sure are you?", CONFIDENCES, format_func=_SURE.__getitem__, key=sure, required=True)
        label = "Send" if mine is None else "Send again"
        given = (state, turn, name, seat)
        st.form_submit_button(label, key=f"{name}.send", type="primary", on_click=_send, args=given)
    if st.session_state.get(_PENDING) is not None:
        st.warning(f"{AWAY} Your answer is kept here until it can be sent.", icon=":material/cloud_off:")
    elif sent is not None and mine is None:
        st.warning(
            "The teacher has deleted the answers of this round. Send your answer again.", icon=":material/refresh:"
        )
    elif mine is not None:
        given_now = f"{lettered(question, mine[0])}, {_SURE[mine[1]].lower()}"
        st.success(
            f"Your answer is in: {given_now}. You can change it until the round closes.", icon=":material/check:"
        )
    _say()


def _show_mine(seen: Seen, question: Question) -> None:
    """After the reveal, say what this participant answered in each round, and whether it was right."""
    for turn, (value, confidence) in sorted(seen.mine.items()):
        right = value == question.answer
        told = f"{NAMES[turn]}: you answered {lettered(question, value)} ({_SURE[confidence].lower()})."
        if right:
            st.success(f"{told} **That is right.**", icon=":material/check:")
        else:
            st.error(f"{told} **That is not right.**", icon=":material/close:")
    if not seen.mine:
        st.info("You did not answer this question.", icon=":material/info:")


def _offer_page(code: str, seat: str) -> None:
    """Offer a page to keep: what was asked and answered, which is deleted here with the room."""

    def made() -> str:
        return printed.page(server().rooms.history(code, seat))

    label, name = "Keep my answers", "inside-bert-answers.html"
    st.download_button(label, made, name, "text/html", on_click="ignore", icon=":material/download:")


def _show_given(seen: Seen, question: Question) -> None:
    """Between the rounds, say what this participant has answered."""
    for turn, (value, _) in sorted(seen.mine.items()):
        st.markdown(f"{NAMES[turn]}: you answered {lettered(question, value)}.")


def _say() -> None:
    said = st.session_state.pop(_SAID, "")
    if said:
        st.warning(said, icon=":material/info:")


def _send(state: State, turn: int, name: str, seat: str) -> None:
    value, sure = st.session_state.get(f"{name}.option"), st.session_state.get(f"{name}.sure")
    if value is None or sure is None:
        st.session_state[_SAID] = "Choose an answer, and say how sure you are."
        return
    st.session_state[_PENDING] = _Vote(state.code, state.version, state.number, turn, value, sure)
    deliver(seat)
