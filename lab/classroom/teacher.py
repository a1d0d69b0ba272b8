"""The room's page for its teacher: the way in, the people, the next steps, the prepared series, the files."""

from __future__ import annotations

import time

import streamlit as st

from lab.classroom import class_plans, class_teaches, entrance, printed
from lab.classroom.class_plans import Written
from lab.course.pages import LESSONS, number
from lab.rooms.questions import TEACHES
from lab.rooms.seen import State, Taught
from lab.rooms.server import server
from lab.rooms.states import ROUND, Phase
from lab.ui import parameters, selection
from lab.ui.room import bar, prepared
from lab.ui.room.room_question import ask, see
from lab.ui.room.teacher_steps import SAID, change, may_ask, more, now, show_question, show_said, show_steps

_LESSON = "_room_lesson"


def show(code: str, key: str, written: Written) -> Taught:
    """Draw the whole screen. Raises RoomError, Unreachable."""
    taught = server().rooms.taught(code, key)
    phase = taught.state.phase
    st.markdown(f"**{now(taught)}** {more(taught)}")
    show_said()
    with st.container(horizontal=True, vertical_alignment="center"):
        class_teaches.offer(code, key, taught)
        show_steps(code, key, taught)
        if may_ask(taught):
            bar.show_next(code, taught, {})
        st.link_button("Wall", bar.wall(code), icon=":material/co_present:")
    if phase is Phase.LOBBY or taught.question is None:
        entrance.show_way_in(code)
        _to_a_lesson(taught)
        class_teaches.show_start(code)
    elif taught.question.question.id == TEACHES:
        ask(taught.question.question)
        class_teaches.show_teacher(code, key, taught)
    else:
        show_question(taught.question, phase)
        see(taught.question.question, "room.see", "Back to its lesson" if phase in ROUND else "")
    _show_prepared(code, taught, written)
    _show_tools(code, key, taught)
    return taught


def _show_prepared(code: str, taught: Taught, written: Written) -> None:
    with st.expander("Prepared questions", icon=":material/playlist_play:", key="room_prepared"):
        prepared.show(code, taught.series, taught.place)
        class_plans.show_offers(code, written)


def _show_tools(code: str, key: str, taught: Taught) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Summary to print" if taught.state.number else "Answer key to print"
        st.link_button(label, printed.link(code), icon=":material/print:")
        if asked := server().rooms.summary(code, key):
            printed.download(asked)
        people_controls(code, key, taught.state)
        with st.popover("A second teacher", icon=":material/person_add:"):
            st.markdown(
                "Whoever opens this link teaches this room as you do: send it to nobody else. It works as long as the "
                "room."
            )
            st.code(entrance.teachers_address(code, key), language=None, wrap_lines=True)
        with st.popover("Delete now", icon=":material/delete:"):
            st.markdown("The room and all its answers are deleted at once.")
            st.button("Delete the room", on_click=_delete, args=(code, key))


def _to_a_lesson(taught: Taught) -> None:
    """Lead to the lesson of the last question, and to every other lesson."""
    if taught.question is not None:
        see(taught.question.question, "room.back", "Back to the lesson of the last question")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lesson = st.selectbox(
            "Lesson", LESSONS, key=_LESSON, format_func=lambda each: f"{number(each)} · {each.title}", width=360
        )
        if st.button("Go to the lesson", icon=":material/arrow_forward:", on_click=parameters.TEACH.set, args=(1,)):
            selection.open_page(lesson)


def _delete(code: str, key: str) -> None:
    if change(lambda: server().rooms.delete(code, key)):
        entrance.leave("The room and all its answers are deleted.")


def count(state: State) -> None:
    """Draw the number of people, the number of answers, and a warning if people come in unusually fast."""
    warn(state)
    st.caption(bar.counted(state, time.time()))


_LATE = "_room_late"
_MINUTES = (1, 2, 5, 10, 30)


def people_controls(code: str, key: str, state: State) -> None:
    """Draw the controls, behind a button that opens them."""
    with st.popover("People", icon=":material/groups:"):
        label, icon = (
            ("Close the door", ":material/door_front:")
            if state.door.is_open
            else ("Open the door", ":material/meeting_room:")
        )
        st.markdown(
            "While the door is closed, nobody can join the room. People who are in the room can leave and come back."
        )
        st.button(label, icon=icon, on_click=_set_door, args=(code, key, not state.door.is_open))
        st.divider()
        st.markdown("Remove everybody who joined lately, together with their answers. This closes the door.")
        minutes = st.selectbox("Who came in within", _MINUTES, key=_LATE, format_func=_within)
        st.button("Take them out", icon=":material/logout:", on_click=_remove, args=(code, key, minutes))
        if state.phase in ROUND:
            st.divider()
            st.markdown("Delete all answers of the open round. Then everybody can answer again.")
            turn = ROUND[state.phase]
            st.button("Empty the round", icon=":material/refresh:", on_click=_empty, args=(code, key, state, turn))


def warn(state: State) -> None:
    """Say if people come in unusually fast, or if nobody can come in."""
    if not state.door.is_open:
        st.info("The door is closed: nobody can join the room.", icon=":material/door_front:")
    elif state.is_crowded:
        st.warning(
            f"People are joining unusually fast: {state.lately} in the last minute. If the room has more people than "
            "your class, close the door (**People**).",
            icon=":material/groups:",
        )


def _within(minutes: int) -> str:
    return "the last minute" if minutes == 1 else f"the last {minutes} minutes"


def _set_door(code: str, key: str, is_open: bool) -> None:
    change(lambda: server().rooms.set_door(code, key, is_open=is_open))


def _remove(code: str, key: str, minutes: int) -> None:
    def remove() -> None:
        gone = server().rooms.remove(code, key, time.time() - 60 * minutes)
        who = "1 person was" if gone == 1 else f"{gone} people were"
        st.session_state[SAID] = f"{who} removed from the room, and the door is now closed."

    change(remove)


def _empty(code: str, key: str, state: State, turn: int) -> None:
    change(lambda: server().rooms.empty(code, key, state.number, turn))
