"""The views of a room: its state, and the parts that a participant, the projector and the teacher may see."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Row, case, func, select

from lab.questions.question import Question
from lab.rooms.counts import Counts, counts
from lab.rooms.questions import TEACHES, read
from lab.rooms.schema import ANSWERS, PARTICIPANTS, QUESTIONS, ROOMS
from lab.rooms.states import DONE, ROUND, Door, Phase

_LATELY = 60  # seconds
MOST_SECONDS = 3600  # on the clock of a round


@dataclass(frozen=True)
class State:
    """The state of a room.

    Attributes
    ----------
    version
        A number that grows with every step; a page of this version is current, except for the numbers of people and
        answers.
    number
        The number of the question, from 1; 0 before the first question.
    people
        The number of people in the room.
    lately
        The number of people who came within the last minute.
    answers
        The number of answers in the open round, or else in the last round.
    door
        Whether new people may come in, and how fast they do.
    closes
        The time on the clock of the open round, in seconds since 1970; 0 without a clock.
    """

    code: str
    version: int
    phase: Phase
    number: int
    people: int
    lately: int
    answers: int
    door: Door
    closes: float

    def left(self, now: float) -> int | None:
        """The seconds left on the clock at a time, 0 if it is over; None without a clock.

        No clock runs for more than an hour: if it says more, the server's time was set back meanwhile.
        """
        return min(MOST_SECONDS, max(0, round(self.closes - now))) if self.closes else None

    @property
    def is_crowded(self) -> bool:
        """True if people come in unusually fast."""
        return self.door.is_crowded(time.time())

    @property
    def asks(self) -> bool:
        """True if there is a question whose answer is not shown yet."""
        return self.phase not in DONE


@dataclass(frozen=True)
class Seen:
    """The view for everybody.

    Attributes
    ----------
    question
        The question, hidden until its answer is revealed; None in the lobby.
    rounds
        The rounds that are revealed.
    mine
        The answers of one participant, by round: the answer and the confidence.
    inside
        Whether this participant is in the room.
    """

    state: State
    question: Question | None
    rounds: tuple[Counts, ...]
    mine: Mapping[int, tuple[int, int]]
    inside: bool


@dataclass(frozen=True)
class Told:
    """A question that was put to the class, with its answer and its rounds."""

    number: int
    question: Question
    rounds: tuple[Counts, ...]

    def round(self, turn: int) -> Counts | None:
        """The result of round ``turn``, from 1; None if nobody answered in this round."""
        return next((each for each in self.rounds if each.turn == turn), None)


@dataclass(frozen=True)
class Taught:
    """The teacher's view: the state of the room, its question (None before the first), and the prepared series.

    ``series`` is as in :mod:`lab.rooms.series`, ``place`` the number of its questions that were asked.
    """

    state: State
    question: Told | None
    series: str
    place: int


def door_of(room: Row) -> Door:
    """The door of the room of this row."""
    return Door(bool(room.door_open), room.busy_until)


def states_of(connection: Connection, rooms: Sequence[Row], only: ColumnElement[bool]) -> Mapping[str, State]:
    """The states of these rooms, by code, from two queries to the database, however many rooms there are.

    ``only`` is the condition that chose the rows.
    """
    came = func.sum(case((PARTICIPANTS.c.joined > int(time.time()) - _LATELY, 1), else_=0))
    counted = select(ROOMS.c.id, func.count(), came).join_from(ROOMS, PARTICIPANTS).where(only).group_by(ROOMS.c.id)
    people = {room: (count, lately) for room, count, lately in connection.execute(counted)}
    last = (QUESTIONS.c.room_id == ROOMS.c.id) & (QUESTIONS.c.number == ROOMS.c.number)
    given = select(ROOMS.c.id, ANSWERS.c.round, func.count()).join_from(ROOMS, QUESTIONS, last).join(ANSWERS)
    answers: dict[int, dict[int, int]] = {}
    for room, turn, count in connection.execute(given.where(only).group_by(ROOMS.c.id, ANSWERS.c.round)):
        answers.setdefault(room, {})[turn] = count
    found = {}
    for room in rooms:
        phase, rounds = Phase(room.phase), answers.get(room.id, {})
        turn = ROUND.get(phase) or max(rounds, default=0)
        count, lately = people.get(room.id, (0, 0))
        found[room.code] = State(
            room.code,
            room.version,
            phase,
            room.number,
            count,
            lately,
            rounds.get(turn, 0),
            door_of(room),
            room.closes,
        )
    return found


def seen(connection: Connection, room: Row, who: str) -> Seen:
    """The view of the participant with this hash; an empty hash gives the view for everybody."""
    state, question = _state(connection, room), _question(connection, room)
    sits = (PARTICIPANTS.c.room_id == room.id) & (PARTICIPANTS.c.who == who)
    inside = connection.scalar(select(PARTICIPANTS.c.who).where(sits)) is not None
    if question is None or state.phase is Phase.LOBBY:
        return Seen(state, None, (), {}, inside)
    found, is_revealed = _told(connection, question), state.phase is Phase.REVEALED
    return Seen(
        state,
        found.question if is_revealed else found.question.hidden(),
        found.rounds if is_revealed else (),
        _given(connection, question.id, who),
        inside,
    )


def taught(connection: Connection, room: Row) -> Taught:
    """The view of this room's teacher."""
    question = _question(connection, room)
    told = None if question is None else _told(connection, question)
    return Taught(_state(connection, room), told, room.series, room.place)


def told(connection: Connection, room: Row) -> tuple[Told, ...]:
    """All questions of this room with a right answer, in the order in which the class got them."""
    own = select(QUESTIONS).where(QUESTIONS.c.room_id == room.id).order_by(QUESTIONS.c.number)
    every = (_told(connection, each) for each in connection.execute(own).all())
    return tuple(each for each in every if each.question.id != TEACHES)


def revealed(asked: Sequence[Told], state: State) -> tuple[Told, ...]:
    """The questions whose answers everybody may see."""
    return tuple(each for each in asked if _is_revealed(each.number, state.number, state.phase))


def _is_revealed(number: int, last: int, phase: Phase) -> bool:
    """Whether everybody may see the answer to a question, in a room with so many questions."""
    return number < last or phase in DONE


@dataclass(frozen=True)
class Mine:
    """A revealed question, and what one participant answered in each round: the answer and the confidence."""

    question: Question
    answers: Mapping[int, tuple[int, int]]


def history(connection: Connection, room: Row, who: str) -> tuple[Mine, ...]:
    """All questions that were revealed to a participant, with the participant's answers."""
    phase, found = Phase(room.phase), []
    for row in connection.execute(
        select(QUESTIONS).where(QUESTIONS.c.room_id == room.id).order_by(QUESTIONS.c.number)
    ).all():
        asked = read(row.posed)
        if _is_revealed(row.number, room.number, phase) and not asked.is_open:
            found.append(Mine(asked, _given(connection, row.id, who)))
    return tuple(found)


def _given(connection: Connection, question: int, who: str) -> Mapping[int, tuple[int, int]]:
    """What one participant answered to a question, by round: the answer and the confidence."""
    own = (ANSWERS.c.question_id == question) & (ANSWERS.c.who == who)
    given = connection.execute(select(ANSWERS.c.round, ANSWERS.c.value, ANSWERS.c.confidence).where(own))
    return {each.round: (each.value, each.confidence) for each in given}


def _state(connection: Connection, room: Row) -> State:
    return states_of(connection, [room], ROOMS.c.id == room.id)[room.code]


def _told(connection: Connection, question: Row) -> Told:
    asked = read(question.posed)
    rounds = (counts(connection, question.id, turn, asked) for turn in ROUND.values())
    return Told(question.number, asked, tuple(each for each in rounds if each.count))


def _question(connection: Connection, room: Row) -> Row | None:
    own = (QUESTIONS.c.room_id == room.id) & (QUESTIONS.c.number == room.number)
    return connection.execute(select(QUESTIONS).where(own)).one_or_none()
