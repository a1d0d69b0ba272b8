"""The steps of a room for its teacher: what is going on, a button for what may come next, its series, a new room."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from lab.course.words import escaped
from lab.questions.question import Question
from lab.rooms.database import Unreachable
from lab.rooms.questions import TEACHES
from lab.rooms.rooms import NotNow, RoomError
from lab.rooms.seen import State, Taught, Told
from lab.rooms.series import Own, PreparedQuestion, Series, SeriesError, read, written
from lab.rooms.server import server
from lab.rooms.states import DONE, NEXT, ROUND, TIMED, WORTH_DISCUSSING, Phase
from lab.ui import parameters
from lab.ui.quiz.question_on_screen import list_options
from lab.ui.room import room_question
from lab.ui.room.seat import address_hash, keep_key, key_of

SAID = "_room_told"
NOT_ADDED = "Nothing was added, because the series has it already."
AWAY = "The database for rooms does not respond. Nothing was changed; try again in a moment."
_NOW = {
    Phase.LOBBY: "No question is open.",
    Phase.OPEN: "Round 1 is open.",
    Phase.CLOSED: "Round 1 is closed.",
    Phase.DISCUSS: "The class discusses.",
    Phase.OPEN_AGAIN: "Round 2 is open.",
    Phase.CLOSED_AGAIN: "Round 2 is closed.",
    Phase.REVEALED: "The answer is revealed.",
}
_MORE = {
    Phase.OPEN: "Everybody answers alone.",
    Phase.CLOSED: "Only you can see the result.",
    Phase.OPEN_AGAIN: "Everybody answers the same question again.",
    Phase.CLOSED_AGAIN: "Only you can see the result.",
}
_NOW_TEACHING = {
    Phase.OPEN: "The class writes its sentences.",
    Phase.CLOSED: "Writing is over.",
    Phase.REVEALED: "The model has learned, and the class sees how well.",
}
_GO = {
    Phase.CLOSED: "Close the round",
    Phase.DISCUSS: "Let them discuss",
    Phase.OPEN_AGAIN: "Open round 2",
    Phase.CLOSED_AGAIN: "Close round 2",
    Phase.REVEALED: "Reveal to the class",
    Phase.LOBBY: "Done with this question",
}
_GO_TEACHING = {
    Phase.CLOSED: "Close the round",
    Phase.OPEN: "Let them write on",
    Phase.LOBBY: "Done with teaching",
}
_DONE_HELP = "The wall shows the code again. You may also ask the next question at once."
_MINUTES = (1, 2, 3)


def now(taught: Taught) -> str:
    """Say what is going on in a room."""
    phase = taught.state.phase
    return _NOW_TEACHING.get(phase, _NOW[phase]) if _teaches(taught) else _NOW[phase]


def more(taught: Taught) -> str:
    """Say what a phase of a question is about, where :func:`now` is not enough; "" if it is."""
    return "" if _teaches(taught) else _MORE.get(taught.state.phase, "")


def show_said() -> None:
    """Draw what the last step said, once."""
    if said := st.session_state.pop(SAID, ""):
        st.warning(said, icon=":material/info:")


def pass_said() -> None:
    """Say what the last step said, over the page: a bar that draws itself again would wipe it away."""
    if said := st.session_state.pop(SAID, ""):
        st.toast(said, icon=":material/info:", duration="long")


def show_steps(code: str, key: str, taught: Taught) -> None:
    """Draw a button for each phase that may follow, the usual one first, and the clock where the class works."""
    phase = taught.state.phase
    names = _GO_TEACHING if _teaches(taught) else _GO
    usual = next((then for then in NEXT[phase] if then in _GO), None)
    for then in NEXT[phase]:
        if then not in names:
            continue
        if then is Phase.LOBBY and phase not in DONE and not _teaches(taught):
            continue
        st.button(
            names[then],
            key=f"_room_go.{then.value}",
            type="primary" if then is usual else "secondary",
            help=_DONE_HELP if then is Phase.LOBBY else None,
            on_click=_go,
            args=(code, key, phase, then),
        )
    if phase in TIMED:
        _show_clock(code, key, taught.state)


def _teaches(taught: Taught) -> bool:
    """Whether the class teaches a model now; in the lobby, it has done so."""
    asked = taught.question
    return asked is not None and asked.question.id == TEACHES and taught.state.phase is not Phase.LOBBY


def may_ask(taught: Taught) -> bool:
    """Return whether a new question may be asked now; a class that wrote too little is not kept from it."""
    return taught.state.phase in DONE or (taught.state.phase is Phase.CLOSED and _teaches(taught))


def _show_clock(code: str, key: str, state: State) -> None:
    # Each version of the room has a box of its own, so that a choice closes it.
    with st.popover("Clock", icon=":material/timer:", key=f"_room_clock_box.{state.version}"):
        for minutes in _MINUTES:
            label = "1 minute" if minutes == 1 else f"{minutes} minutes"
            st.button(label, key=f"_room_clock.{minutes}", on_click=_set_clock, args=(code, key, 60.0 * minutes))
        if state.closes:
            st.button("Stop the clock", key="_room_clock.0", on_click=_set_clock, args=(code, key, 0.0))
        st.caption("The class sees the clock. When the time is up, nothing closes by itself.")


def _set_clock(code: str, key: str, seconds: float) -> None:
    change(lambda: server().rooms.set_clock(code, key, seconds))


def _go(code: str, key: str, now: Phase, then: Phase) -> None:
    change(lambda: server().rooms.step(code, key, now, then))


def change(make: Callable[[], object]) -> bool:
    """Make a change of the room, or keep a sentence that says why it failed. Returns whether it was made."""
    try:
        make()
    except Unreachable:
        st.session_state[SAID] = AWAY
    except RoomError as refused:
        st.session_state[SAID] = str(refused)
    except SeriesError as refused:
        st.session_state[SAID] = escaped(str(refused))  # it may name what somebody wrote into a file
    else:
        server().forget()
        return True
    server().forget()
    return False


def put(code: str, asked: Question) -> None:
    """Ask the class, if no question waits for its answer; a series goes on after this question.

    Raises RoomError, Unreachable.
    """
    rooms, key = server().rooms, key_of(code)
    taught = rooms.taught(code, key)
    if not may_ask(taught):
        raise NotNow("Another question is open. Close its round, and reveal its answer, before you ask the next.")
    phase = taught.state.phase
    if phase is not Phase.LOBBY:
        rooms.step(code, key, phase, Phase.LOBBY)
    rooms.ask(code, key, asked)
    place = read(taught.series).place_of(asked, taught.place)
    if place is not None:
        rooms.set_series(code, key, taught.series, place + 1)


def show_question(told: Told, phase: Phase) -> None:
    """Draw the question with its picture and, as far as the teacher has one, its result."""
    room_question.ask(told.question)
    if phase is not Phase.REVEALED:
        list_options(told.question)
    show_result(told, phase)


def show_result(told: Told, phase: Phase) -> None:
    """Draw the result of a question, as far as the teacher has one, and the explanation once it is revealed."""
    if told.question.id == TEACHES:
        st.markdown(told.question.prompt)
        return
    if phase not in ROUND:
        room_question.rounds(told.rounds, told.question, revealed=phase is Phase.REVEALED)
        _hint(told, phase)
    if phase is Phase.REVEALED:
        room_question.explain(told.question)


def _hint(told: Told, phase: Phase) -> None:
    """After round 1, say whether a discussion is worth its time, and how many were sure of a wrong answer."""
    first = told.round(1)
    if phase not in (Phase.CLOSED, Phase.DISCUSS) or first is None or first.withheld:
        return
    low, high = WORTH_DISCUSSING
    if first.right < low:
        worth = "Few answers are right. Explain the idea once more before the discussion."
    elif first.right > high:
        worth = "Most answers are right. A short explanation is enough."
    else:
        worth = "In this range, a discussion is worth the time."
    sure = (
        f" Sure of a wrong answer: {first.sure_and_wrong}."
        if first.sure_and_wrong
        else " Nobody was sure of a wrong answer."
    )
    st.info(f"{first.right:.0%} of the answers are right. {worth}{sure}", icon=":material/forum:")


def open_room() -> None:
    """Open a room and keep its key, or keep a sentence that says why there is none."""
    try:
        code, key = server().create(address_hash())
    except Unreachable:
        st.session_state[SAID] = "The database for rooms does not respond. Try again in a moment."
    except RoomError as refused:
        st.session_state[SAID] = str(refused)
    else:
        keep_key(code, key)
        parameters.ROOM.set(code)
        parameters.TEACH.set(1)


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
