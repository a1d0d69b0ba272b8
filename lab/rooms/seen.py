"""What is read of a room: where it stands, and what a participant, the projector and the teacher may see of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Row, func, select

from lab.rooms.counts import Counts, counts
from lab.rooms.questions import Hidden, Posed
from lab.rooms.schema import ANSWERS, PARTICIPANTS, QUESTIONS
from lab.rooms.states import ASKS, ROUND, SHOWN, Phase

_THIRD = ROUND[Phase.THIRD]


@dataclass(frozen=True)
class State:
    """Where a room stands.

    Attributes
    ----------
    version
        Grows with every step; whoever has seen it has seen the rest of this, but for the numbers of people and answers.
    number
        Of the question, from 1; 0 before the first.
    people
        Who is in the room.
    answers
        Those of the round that is open, else of the last one.
    """

    code: str
    version: int
    phase: Phase
    number: int
    people: int
    answers: int

    @property
    def asks(self) -> bool:
        """Whether there is a question whose answer is not shown yet."""
        return self.phase in ASKS


@dataclass(frozen=True)
class Seen:
    """What everybody may see.

    Attributes
    ----------
    question, third
        Hidden until they are revealed; None where there is none.
    rounds
        Those that are revealed.
    mine
        The answer and the confidence of one participant in the round that is open, or in the last one.
    """

    state: State
    question: Posed | Hidden | None
    third: Posed | Hidden | None
    rounds: tuple[Counts, ...]
    mine: tuple[float, int] | None


@dataclass(frozen=True)
class Told:
    """A question that was asked, with its answer and its rounds."""

    number: int
    question: Posed
    third: Posed | None
    rounds: tuple[Counts, ...]

    def round(self, turn: int) -> Counts | None:
        """Round ``turn``, from 1; None where nobody answered in it."""
        return next((each for each in self.rounds if each.turn == turn), None)


@dataclass(frozen=True)
class Taught:
    """What the teacher sees: where the room stands, and its question; None before the first."""

    state: State
    question: Told | None


def state_of(connection: Connection, room: Row) -> State:
    """Where the room of this row stands."""
    phase = Phase(room.phase)
    people = select(func.count()).select_from(PARTICIPANTS).where(PARTICIPANTS.c.room_id == room.id)
    question = _question(connection, room)
    given = 0
    if question is not None:
        turn = _turn(connection, phase, question.id)
        own = (ANSWERS.c.question_id == question.id) & (ANSWERS.c.round == turn)
        given = connection.scalar(select(func.count()).select_from(ANSWERS).where(own)) or 0
    return State(room.code, room.version, phase, room.number, connection.scalar(people) or 0, given)


def seen(connection: Connection, room: Row, who: str) -> Seen:
    """What the participant with this hash may see, and everybody; an empty one is nobody's."""
    state, question = state_of(connection, room), _question(connection, room)
    if question is None or state.phase is Phase.LOBBY:
        return Seen(state, None, None, (), None)
    found, shown = _told(connection, question), SHOWN.get(state.phase, ())
    third = None if found.third is None or _THIRD in shown else Hidden.of(found.third)
    turn = _turn(connection, state.phase, question.id)
    own = (ANSWERS.c.question_id == question.id) & (ANSWERS.c.who == who) & (ANSWERS.c.round == turn)
    mine = connection.execute(select(ANSWERS.c.value, ANSWERS.c.confidence).where(own)).one_or_none()
    return Seen(
        state,
        found.question if shown else Hidden.of(found.question),
        third or found.third,
        tuple(each for each in found.rounds if each.turn in shown),
        None if mine is None else (mine.value, mine.confidence),
    )


def taught(connection: Connection, room: Row) -> Taught:
    """What the teacher of this room sees."""
    question = _question(connection, room)
    return Taught(state_of(connection, room), None if question is None else _told(connection, question))


def told(connection: Connection, room: Row) -> tuple[Told, ...]:
    """Every question of this room, in the order in which they were asked."""
    own = select(QUESTIONS).where(QUESTIONS.c.room_id == room.id).order_by(QUESTIONS.c.number)
    return tuple(_told(connection, each) for each in connection.execute(own).all())


def _told(connection: Connection, question: Row) -> Told:
    asked, third = Posed.from_json(question.posed), Posed.from_json(question.third) if question.third else None
    rounds = (
        counts(connection, question.id, turn, third if third and turn == _THIRD else asked) for turn in ROUND.values()
    )
    return Told(question.number, asked, third, tuple(each for each in rounds if each.count))


def _turn(connection: Connection, phase: Phase, question: int) -> int:
    """The round that is open, else the last one that somebody answered in; 0 where nobody did."""
    last = select(func.max(ANSWERS.c.round)).where(ANSWERS.c.question_id == question)
    return ROUND.get(phase) or connection.scalar(last) or 0


def _question(connection: Connection, room: Row) -> Row | None:
    own = (QUESTIONS.c.room_id == room.id) & (QUESTIONS.c.number == room.number)
    return connection.execute(select(QUESTIONS).where(own)).one_or_none()
