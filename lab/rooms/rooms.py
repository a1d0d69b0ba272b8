"""Rooms in a database: made, found, joined, asked, voted in, deleted. Every rule is checked where it is written."""

from __future__ import annotations

import time
from collections.abc import Mapping
from hmac import compare_digest

from sqlalchemy import Connection, Engine, Row, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from lab.rooms.codes import hashed, new_code, new_secret
from lab.rooms.database import reading, writing
from lab.rooms.questions import Posed
from lab.rooms.schema import ANSWERS, PARTICIPANTS, QUESTIONS, ROOMS
from lab.rooms.seen import Seen, State, Taught, Told, seen, state_of, taught, told
from lab.rooms.states import NEXT, ROUND, Phase

LIFE = 24 * 60 * 60  # seconds, then a room and its answers are deleted
MOST_ROOMS, MOST_PARTICIPANTS = 50, 500
GONE = "There is no room with this code. A room is deleted after a day."
CONFIDENCES = (1, 2, 3)  # guessing, rather sure, sure


class RoomError(RuntimeError):
    """A sentence for whoever asked for what cannot be."""


class NoSuchRoom(RoomError):
    """Raised for a room that is not there, or not any more."""


class Full(RoomError):
    """Raised where there are as many rooms, or participants, as there may be."""


class NotTheTeacher(RoomError):
    """Raised for a step without the room's key."""


class NotNow(RoomError):
    """Raised for a vote where none is taken, and for a step that does not follow from where the room stands."""


class Rooms:
    """The rooms of one database; any number of servers may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self) -> tuple[str, str]:
        """A new room; returns its code and the teacher's key, which is stored nowhere. Raises Full."""
        key, now = new_secret(), int(time.time())
        self.tidy()
        with writing(self._engine) as connection:
            taken = set(connection.scalars(select(ROOMS.c.code)))
            if len(taken) >= MOST_ROOMS:
                raise Full(f"There are {MOST_ROOMS} rooms, and there can be no more. Try again later.")
            code = next(code for code in iter(new_code, None) if code not in taken)
            connection.execute(
                insert(ROOMS).values(
                    code=code, key_hash=hashed(key), expires=now + LIFE, version=1, phase=Phase.LOBBY.value, number=0
                )
            )
        return code, key

    def tidy(self) -> None:
        """Delete the rooms whose day is over, with all that was answered in them."""
        with writing(self._engine) as connection:
            connection.execute(delete(ROOMS).where(ROOMS.c.expires <= int(time.time())))

    def states(self) -> Mapping[str, State]:
        """Where all rooms stand, by code, in one reading."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(ROOMS).where(ROOMS.c.expires > int(time.time()))).all()
            return {row.code: state_of(connection, row) for row in rows}

    def join(self, code: str, who: str) -> None:
        """Let a participant in, or find that they are in: their secret tells. Raises NoSuchRoom, Full."""
        with writing(self._engine) as connection:
            room = _locked(connection, code)
            inside = select(PARTICIPANTS.c.who).where(PARTICIPANTS.c.room_id == room.id)
            if connection.scalar(inside.where(PARTICIPANTS.c.who == hashed(who))) is not None:
                return
            if (connection.scalar(select(func.count()).select_from(inside.subquery())) or 0) >= MOST_PARTICIPANTS:
                raise Full(f"There are {MOST_PARTICIPANTS} people in this room. It takes no more.")
            connection.execute(insert(PARTICIPANTS).values(room_id=room.id, who=hashed(who)))

    def ask(self, code: str, key: str, posed: Posed) -> None:
        """Open a new question: round 1 begins. Raises NoSuchRoom, NotTheTeacher, NotNow."""
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            _step(connection, room, Phase(room.phase), Phase.OPEN, number=room.number + 1)
            connection.execute(
                insert(QUESTIONS).values(room_id=room.id, number=room.number + 1, posed=posed.to_json(), third="")
            )

    def ask_third(self, code: str, key: str, posed: Posed) -> None:
        """Open the third question, made for it: round 3 begins. Raises NoSuchRoom, NotTheTeacher, NotNow."""
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            _step(connection, room, Phase(room.phase), Phase.THIRD)
            own = QUESTIONS.c.id == _question(connection, room).id
            connection.execute(update(QUESTIONS).where(own).values(third=posed.to_json()))

    def step(self, code: str, key: str, now: Phase, then: Phase) -> None:
        """Go on from the phase that the teacher sees. Raises NoSuchRoom, NotTheTeacher, NotNow.

        Two clicks, or two screens of one teacher, make one step: the second finds that the room has gone on.
        """
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            if then in (Phase.OPEN, Phase.THIRD):
                raise NotNow("Only a question opens this round.")
            _step(connection, room, now, then)

    def vote(self, code: str, who: str, number: int, turn: int, value: float, confidence: int) -> None:
        """A participant's answer to question ``number`` in round ``turn``; a later one takes its place.

        ``value`` is the place of what was chosen, from 0, or the number that was asked for. Once this returns, the
        answer is kept. The phase is read in the same transaction, and no step can pass it.

        Raises
        ------
        NoSuchRoom, NotNow
            NotNow for a round that is not open, for somebody who is not in the room, and for what can be no answer.
        """
        with writing(self._engine) as connection:
            room = _locked(connection, code, shared=True)
            if (number, turn) != (room.number, ROUND.get(Phase(room.phase))):
                raise NotNow("This round is closed. Your answer came too late and does not count.")
            question, mine = _question(connection, room), {"who": hashed(who), "round": turn}
            asked = Posed.from_json(question.third if turn == ROUND[Phase.THIRD] else question.posed)
            if not asked.accepts(value) or confidence not in CONFIDENCES:
                raise NotNow("There is no such answer.")
            inside = (PARTICIPANTS.c.room_id == room.id) & (PARTICIPANTS.c.who == mine["who"])
            if connection.scalar(select(PARTICIPANTS.c.who).where(inside)) is None:
                raise NotNow("You are not in this room. Join it first.")
            _keep(connection, {"question_id": question.id, **mine}, {"value": value, "confidence": confidence})

    def seen(self, code: str, who: str = "") -> Seen:
        """What a participant, or the projector, may see now, read at one moment. Raises NoSuchRoom."""
        with reading(self._engine) as connection:
            return seen(connection, _locked(connection, code, shared=True), hashed(who))

    def taught(self, code: str, key: str) -> Taught:
        """What the teacher sees: the last question with its answer, all rounds. Raises NoSuchRoom, NotTheTeacher."""
        with reading(self._engine) as connection:
            return taught(connection, _teachers(connection, code, key, shared=True))

    def summary(self, code: str, key: str) -> tuple[Told, ...]:
        """Every question that was asked, with its rounds. Raises NoSuchRoom, NotTheTeacher."""
        with reading(self._engine) as connection:
            return told(connection, _teachers(connection, code, key, shared=True))

    def delete(self, code: str, key: str) -> None:
        """Delete a room with all that was answered in it. Raises NoSuchRoom, NotTheTeacher."""
        with writing(self._engine) as connection:
            connection.execute(delete(ROOMS).where(ROOMS.c.id == _teachers(connection, code, key).id))


def _locked(connection: Connection, code: str, *, shared: bool = False) -> Row:
    """A room's row, which stays as it is until the transaction ends. ``shared``: others may read it so, too."""
    own = (ROOMS.c.code == code) & (ROOMS.c.expires > int(time.time()))
    room = connection.execute(select(ROOMS).where(own).with_for_update(read=shared)).one_or_none()
    if room is None:
        raise NoSuchRoom(GONE)
    return room


def _teachers(connection: Connection, code: str, key: str, *, shared: bool = False) -> Row:
    room = _locked(connection, code, shared=shared)
    if not compare_digest(room.key_hash, hashed(key)):
        raise NotTheTeacher("Only the teacher who opened this room can do that.")
    return room


def _step(connection: Connection, room: Row, now: Phase, then: Phase, **changes: int) -> None:
    if Phase(room.phase) is not now or then not in NEXT[now]:
        raise NotNow("The room has gone on already.")
    changed = {"phase": then.value, "version": room.version + 1, **changes}
    connection.execute(update(ROOMS).where(ROOMS.c.id == room.id).values(changed))


def _question(connection: Connection, room: Row) -> Row:
    own = (QUESTIONS.c.room_id == room.id) & (QUESTIONS.c.number == room.number)
    return connection.execute(select(QUESTIONS).where(own)).one()


def _keep(connection: Connection, place: Mapping[str, object], answer: Mapping[str, object]) -> None:
    """Write an answer, over the one that was there."""
    wanted = {**place, **answer}
    statement = (
        postgresql.insert(ANSWERS).values(wanted).on_conflict_do_update(index_elements=list(place), set_=answer)
        if connection.dialect.name == "postgresql"
        else sqlite.insert(ANSWERS).values(wanted).on_conflict_do_update(index_elements=list(place), set_=answer)
    )
    connection.execute(statement)
