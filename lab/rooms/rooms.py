"""Rooms in a database: functions to make, find and join them, to ask and vote in them, and to delete them.

Every transaction that writes checks all rules.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from hmac import compare_digest

from sqlalchemy import ColumnElement, Connection, Engine, Row, Table, delete, func, insert, select, true, update
from sqlalchemy.dialects import postgresql, sqlite

from lab.questions.question import Question
from lab.rooms import log
from lab.rooms.codes import hashed, is_signed, new_code, new_seat, new_secret
from lab.rooms.database import reading, writing
from lab.rooms.questions import TEACHES, one_line, read, written
from lab.rooms.schema import (
    ANSWERS,
    LIFE,
    LONGEST_SENTENCE,
    PARTICIPANTS,
    QUESTIONS,
    ROOMS,
    SENTENCES,
    drop_unused,
    note_use,
)
from lab.rooms.seen import (
    MOST_SECONDS,
    Mine,
    Seen,
    State,
    Taught,
    Told,
    door_of,
    history,
    seen,
    states_of,
    taught,
    told,
)
from lab.rooms.series import SeriesError
from lab.rooms.states import NEXT, ROUND, TIMED, Phase

UNUSED_LIFE = 60 * 60  # seconds until a room without a sign of its teacher is deleted
MOST_ROOMS, MOST_PARTICIPANTS = 50, 500
# The most rooms of one address: twenty classes of a school at the same time, and less than half of all rooms.
MOST_OF_ADDRESS = 20
# Seconds without a sign of its teacher after which a room has to go for a new one, if all are taken; a teacher's page
# gives a sign every SIGN seconds, so a class that is under way keeps its room.
IDLE, SIGN = 15 * 60, 5 * 60
GONE = (
    "There is no room with this code. A room ends after a day, or after an hour without its teacher; an update of the "
    "lab can end it sooner."
)
MOST_SERIES = 40_000  # characters
CONFIDENCES = (1, 2, 3)  # guessing, rather sure, sure


class RoomError(RuntimeError):
    """Raised for a request that cannot be met; the message is for the person who made the request."""


class NoSuchRoom(RoomError):
    """Raised for a room that does not exist, or no longer exists."""


class TooManyGuesses(NoSuchRoom):
    """Raised instead of looking for a room, for somebody who has just tried many wrong codes."""


class Full(RoomError):
    """Raised if the number of rooms, or of participants, is at its limit."""


class Waits(RoomError):
    """Raised if somebody new has to ask again later, because the door is closed, or too many people come at once."""


class NotTheTeacher(RoomError):
    """Raised for a step without the room's key."""


class NotNow(RoomError):
    """Raised for a vote outside a round, and for a step that cannot follow the room's phase."""


class Rooms:
    """The rooms of one database; any number of servers may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, address: str = "") -> tuple[str, str]:
        """Make a room; returns its code and the teacher's key, which is stored nowhere. Raises Full.

        ``address`` says where it is opened, as a hash; empty if nobody knows. If all rooms are taken, the room goes
        that has been without a sign of its teacher for longest, and for a quarter of an hour at least.
        """
        key, now = new_secret(), int(time.time())
        self.tidy()
        with writing(self._engine) as connection:
            _make_room(connection, address, now)
            note_use(connection, now)
            taken = set(connection.scalars(select(ROOMS.c.code)))
            code = next(code for code in iter(new_code, None) if code not in taken)
            connection.execute(
                insert(ROOMS).values(
                    code=code,
                    key_hash=hashed(key),
                    seal=new_secret(),
                    created=now,
                    expires=now + UNUSED_LIFE,
                    version=1,
                    phase=Phase.LOBBY.value,
                    number=0,
                    door_open=1,
                    busy_until=0.0,
                    address=address,
                    closes=0.0,
                    series="",
                    place=0,
                )
            )
        return code, key

    def tidy(self) -> int | None:
        """Delete the rooms whose time is over, with all their answers, and the tables of other versions likewise.

        Returns the time, in seconds since 1970, at which the next room or table is due; None if none is left.
        """
        now = int(time.time())
        with writing(self._engine) as connection:
            over = connection.execute(delete(ROOMS).where(ROOMS.c.expires <= now)).rowcount
            then = (connection.scalar(select(func.min(ROOMS.c.expires))), drop_unused(connection, now))
        if over:
            log.LOG.info("rooms whose time was over are deleted: %d.", over)
        return min((due for due in then if due is not None), default=None)

    def states(self) -> Mapping[str, State]:
        """The states of all rooms, by code, read in one transaction."""
        there = ROOMS.c.expires > int(time.time())
        with reading(self._engine) as connection:
            return states_of(connection, connection.execute(select(ROOMS).where(there)).all(), there)

    def listed(self) -> Sequence[tuple[State, int, int]]:
        """Every room, for the operator: its state, its beginning and its end, in seconds since 1970."""
        there = ROOMS.c.expires > int(time.time())
        with reading(self._engine) as connection:
            rows = connection.execute(select(ROOMS).where(there).order_by(ROOMS.c.created, ROOMS.c.id)).all()
            states = states_of(connection, rows, there)
            return [(states[row.code], row.created, row.expires) for row in rows]

    def end(self, codes: Sequence[str]) -> int:
        """Delete rooms for the operator, who needs no key. Returns how many there were."""
        with writing(self._engine) as connection:
            return connection.execute(delete(ROOMS).where(ROOMS.c.code.in_(codes))).rowcount

    def end_unused(self, seconds: float) -> int:
        """Delete, for the operator, the rooms without a sign of their teachers for ``seconds``; returns how many."""
        with writing(self._engine) as connection:
            return connection.execute(delete(ROOMS).where(_last_sign() <= time.time() - seconds)).rowcount

    def sign(self, code: str, key: str) -> None:
        """Take a sign of the teacher, for which the room lasts an hour longer, but no more than a day in all.

        Raises NoSuchRoom, NotTheTeacher.
        """
        now = int(time.time())
        with reading(self._engine) as connection:
            room = _teachers(connection, code, key, shared=True)
            until = min(room.created + LIFE, now + UNUSED_LIFE)
            lasts = room.expires >= until - SIGN
        if not lasts:
            with writing(self._engine) as connection:
                connection.execute(update(ROOMS).where(ROOMS.c.id == room.id).values(expires=until))

    def join(self, code: str, visit: str, kept: str = "") -> str:
        """Let a visit in, or find that it is in already; returns the visit's seat, which its browser keeps.

        ``kept`` is a seat that the browser has kept from an earlier visit; a seat that this room has not signed is
        ignored. People who are in can come back at any time; only new people wait at the door, and waiting writes
        nothing.

        Raises
        ------
        NoSuchRoom, Full, Waits
            Waits is raised if the door is closed, or too many people come at once.
        """
        for transaction in (reading, writing):
            with transaction(self._engine) as connection:
                room = _locked(connection, code, shared=transaction is reading)
                seat = kept if is_signed(kept, room.seal) else new_seat(visit, room.seal)
                inside = select(PARTICIPANTS.c.who).where(PARTICIPANTS.c.room_id == room.id)
                if connection.scalar(inside.where(PARTICIPANTS.c.who == hashed(seat))) is not None:
                    break
                if (connection.scalar(select(func.count()).select_from(inside.subquery())) or 0) >= MOST_PARTICIPANTS:
                    raise Full(f"There are {MOST_PARTICIPANTS} people in this room. It takes no more.")
                _pass_the_door(room)
                if transaction is writing:
                    _let_in(connection, room, seat)
        return seat

    def set_door(self, code: str, key: str, *, is_open: bool) -> None:
        """Open the door to new people, or close it. Raises NoSuchRoom, NotTheTeacher."""
        with writing(self._engine) as connection:
            _change(connection, _teachers(connection, code, key), door_open=int(is_open))

    def remove(self, code: str, key: str, since: float) -> int:
        """Close the door, and remove everybody who came in at ``since`` (seconds since 1970) or later.

        Their answers are deleted, too. Returns how many people went. Raises NoSuchRoom, NotTheTeacher.
        """
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            late = (PARTICIPANTS.c.room_id == room.id) & (PARTICIPANTS.c.joined >= int(since))
            own = select(QUESTIONS.c.id).where(QUESTIONS.c.room_id == room.id)
            for table in (ANSWERS, SENTENCES):
                theirs = table.c.who.in_(select(PARTICIPANTS.c.who).where(late))
                connection.execute(delete(table).where(theirs, table.c.question_id.in_(own)))
            gone = connection.execute(delete(PARTICIPANTS).where(late)).rowcount
            _change(connection, room, door_open=0)
            return gone

    def empty(self, code: str, key: str, number: int, turn: int) -> None:
        """Delete the answers of the round that is open. Raises NoSuchRoom, NotTheTeacher, NotNow."""
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            if (number, turn) != (room.number, ROUND.get(Phase(room.phase))):
                raise NotNow("The room is already at a later stage.")
            asked = _question(connection, room).id
            connection.execute(delete(ANSWERS).where(ANSWERS.c.question_id == asked, ANSWERS.c.round == turn))
            connection.execute(delete(SENTENCES).where(SENTENCES.c.question_id == asked))
            _change(connection, room)

    def ask(self, code: str, key: str, asked: Question) -> None:
        """Open a new question: round 1 begins. Raises NoSuchRoom, NotTheTeacher, NotNow."""
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            _step(connection, room, Phase(room.phase), Phase.OPEN, number=room.number + 1)
            connection.execute(insert(QUESTIONS).values(room_id=room.id, number=room.number + 1, posed=written(asked)))

    def step(self, code: str, key: str, now: Phase, then: Phase) -> None:
        """Go on to phase ``then`` from ``now``, the phase that the teacher sees.

        Raises NoSuchRoom, NotTheTeacher, NotNow. Two clicks, or two screens of one teacher, make only one step, because
        the second finds the room in a later phase.
        """
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            if then is Phase.OPEN and now is Phase.LOBBY:
                raise NotNow("Only a question opens this round.")
            if now is Phase.CLOSED and then is Phase.LOBBY and read(_question(connection, room).posed).id != TEACHES:
                # Every later step takes the question as revealed, and the phones keep its answer.
                raise NotNow("Reveal the answer before the question is over.")
            _step(connection, room, now, then)

    def set_clock(self, code: str, key: str, seconds: float) -> None:
        """Set the clock of the open round, or of the discussion; 0 stops it. The clock ends neither.

        Raises NoSuchRoom, NotTheTeacher, NotNow.
        """
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            if Phase(room.phase) not in TIMED:
                raise NotNow("A clock runs only while a round is open, or while the class discusses.")
            closes = time.time() + min(seconds, MOST_SECONDS) if seconds > 0 else 0.0
            _change(connection, room, closes=closes)

    def set_series(self, code: str, key: str, series: str, place: int = 0) -> None:
        """Keep the questions that the teacher has prepared, and how many of them were asked.

        Raises NoSuchRoom, NotTheTeacher, and SeriesError for a series that is too long.
        """
        if len(series) > MOST_SERIES:
            raise SeriesError(f"A series has at most {MOST_SERIES // 1000} kB. Leave some questions out.")
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            connection.execute(update(ROOMS).where(ROOMS.c.id == room.id).values(series=series, place=place))

    def vote(self, code: str, seat: str, number: int, turn: int, value: int, confidence: int) -> None:
        """Keep a participant's answer to question ``number`` in round ``turn``; a later answer replaces it.

        ``value`` is the place of the chosen option, from 0. Once this returns, the answer is kept. The phase is read in
        the same transaction, so that no step can come in between.

        Raises
        ------
        NoSuchRoom, NotNow
            NotNow is raised if the round is not open, the voter is not in the room, or ``value`` cannot be an answer.
        """
        with writing(self._engine) as connection:
            room = _locked(connection, code, shared=True)
            _answer(connection, room, seat, (number, turn), (value, confidence), teaches=False)

    def write(self, code: str, seat: str, number: int, text: str, label: int) -> None:
        """Keep a participant's sentence and its label in a room in which a class teaches; a later one replaces it.

        Raises NoSuchRoom, NotNow.
        """
        text = one_line(text)
        if not 0 < len(text) <= LONGEST_SENTENCE:
            raise NotNow(f"Write a sentence of at most {LONGEST_SENTENCE} characters.")
        with writing(self._engine) as connection:
            room = _locked(connection, code, shared=True)
            asked = _answer(connection, room, seat, (number, 1), (label, CONFIDENCES[-1]), teaches=True)
            _keep(connection, SENTENCES, {"question_id": asked, "who": hashed(seat)}, {"text": text})

    def sentences(self, code: str, key: str) -> tuple[tuple[str, bool], ...]:
        """The sentences of the class that teaches, each with whether its label is the first one, in a random order.

        Raises NoSuchRoom, NotTheTeacher.
        """
        with reading(self._engine) as connection:
            asked = _question(connection, _teachers(connection, code, key, shared=True)).id
            both = (SENTENCES.c.question_id == ANSWERS.c.question_id) & (SENTENCES.c.who == ANSWERS.c.who)
            rows = select(SENTENCES.c.text, ANSWERS.c.value).select_from(SENTENCES.join(ANSWERS, both))
            # The order of hashes of random seats says nothing about anybody, and stays.
            found = rows.where(SENTENCES.c.question_id == asked).order_by(SENTENCES.c.who)
            return tuple((each.text, each.value == 0) for each in connection.execute(found))

    def tell(self, code: str, key: str, told: Question) -> None:
        """Show the class what the model has learned, in place of the question to which it wrote sentences.

        Raises NoSuchRoom, NotTheTeacher, NotNow.
        """
        with writing(self._engine) as connection:
            room = _teachers(connection, code, key)
            now = Phase(room.phase)
            asked = _question(connection, room)
            if now not in (Phase.CLOSED, Phase.REVEALED) or {read(asked.posed).id, told.id} != {TEACHES}:
                raise NotNow("The room is already at a later stage.")
            own = QUESTIONS.c.id == asked.id
            connection.execute(update(QUESTIONS).where(own).values(posed=written(told)))
            _change(connection, room, phase=Phase.REVEALED.value)

    def seen(self, code: str, seat: str = "") -> Seen:
        """Read everything that a participant or the projector may see, all from the same moment. Raises NoSuchRoom."""
        with reading(self._engine) as connection:
            return seen(connection, _locked(connection, code, shared=True), hashed(seat))

    def history(self, code: str, seat: str) -> tuple[Mine, ...]:
        """All that was revealed to a participant so far, with the participant's own answers. Raises NoSuchRoom."""
        with reading(self._engine) as connection:
            return history(connection, _locked(connection, code, shared=True), hashed(seat))

    def taught(self, code: str, key: str) -> Taught:
        """The teacher's view: the last question with its answer, and all its rounds.

        Raises NoSuchRoom, NotTheTeacher.
        """
        with reading(self._engine) as connection:
            return taught(connection, _teachers(connection, code, key, shared=True))

    def summary(self, code: str, key: str) -> tuple[Told, ...]:
        """Every question put to the class, with its rounds. Raises NoSuchRoom, NotTheTeacher."""
        with reading(self._engine) as connection:
            return told(connection, _teachers(connection, code, key, shared=True))

    def delete(self, code: str, key: str) -> None:
        """Delete a room with all its questions and answers. Raises NoSuchRoom, NotTheTeacher."""
        with writing(self._engine) as connection:
            connection.execute(delete(ROOMS).where(ROOMS.c.id == _teachers(connection, code, key).id))
        log.LOG.info("a room was deleted by its teacher.")


def _last_sign() -> ColumnElement[int]:
    """The time of the last sign of a room's teacher; earlier in the last hour of a room's day."""
    return ROOMS.c.expires - UNUSED_LIFE


def _make_room(connection: Connection, address: str, now: int) -> None:
    """Delete the room that is unused for longest where one more would be too many. Raises Full if all are in use."""
    own = ROOMS.c.address == address
    for most, those in ((MOST_OF_ADDRESS, own if address else None), (MOST_ROOMS, true())):
        if those is None or (connection.scalar(select(func.count()).select_from(ROOMS).where(those)) or 0) < most:
            continue
        idle = select(ROOMS.c.id).where(those, _last_sign() <= now - IDLE).order_by(ROOMS.c.expires).limit(1)
        gone = connection.scalar(idle)
        if gone is None:
            where = "opened from here" if most == MOST_OF_ADDRESS else "on this server"
            raise Full(f"There are {most} rooms {where}, all in use, and there can be no more. Try again later.")
        connection.execute(delete(ROOMS).where(ROOMS.c.id == gone))
        log.say_once("all rooms were taken; the one that was unused for longest was deleted for a new one.")


def _locked(connection: Connection, code: str, *, shared: bool = False) -> Row:
    """The row of a room, locked until the transaction ends. If ``shared``, other readers may lock the row, too."""
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
        raise NotNow("The room is already at a later stage.")
    _change(connection, room, phase=then.value, closes=0.0, **changes)


def _change(connection: Connection, room: Row, **changes: float | str) -> None:
    """Write a change to a room, and count it as a new version, so that every page of the room shows the change."""
    connection.execute(update(ROOMS).where(ROOMS.c.id == room.id).values(version=room.version + 1, **changes))


def _pass_the_door(room: Row) -> None:
    """Raise Waits if somebody new has to wait."""
    door = door_of(room)
    if not door.is_open:
        raise Waits("The teacher has closed the door of this room. You come in by yourself when it is opened.")
    if door.wait(time.time()):
        raise Waits("Many people come in at this moment. Wait a little: you come in by yourself.")


def _let_in(connection: Connection, room: Row, seat: str) -> None:
    """Write down somebody new."""
    now = time.time()
    connection.execute(insert(PARTICIPANTS).values(room_id=room.id, who=hashed(seat), joined=int(now)))
    busy_until = door_of(room).after_one_more(now)
    connection.execute(update(ROOMS).where(ROOMS.c.id == room.id).values(busy_until=busy_until))


def _question(connection: Connection, room: Row) -> Row:
    own = (QUESTIONS.c.room_id == room.id) & (QUESTIONS.c.number == room.number)
    return connection.execute(select(QUESTIONS).where(own)).one()


def _answer(
    connection: Connection, room: Row, seat: str, when: tuple[int, int], given: tuple[int, int], *, teaches: bool
) -> int:
    """Write a participant's answer, if all rules allow it; returns the id of its question.

    ``when`` is the number of the question and the round, ``given`` the answer and the confidence. A question to which
    a class writes sentences (``teaches``) takes no answer without a sentence, and no other question takes a sentence.
    """
    if when != (room.number, ROUND.get(Phase(room.phase))):
        raise NotNow("This round is closed. Your answer came too late and does not count.")
    question, who = _question(connection, room), hashed(seat)
    asked = read(question.posed)
    value, confidence = given
    if (asked.id == TEACHES) is not teaches or value not in range(len(asked.options)) or confidence not in CONFIDENCES:
        raise NotNow("There is no such answer.")
    inside = (PARTICIPANTS.c.room_id == room.id) & (PARTICIPANTS.c.who == who)
    if connection.scalar(select(PARTICIPANTS.c.who).where(inside)) is None:
        raise NotNow("You are not in this room. Join it first.")
    place = {"question_id": question.id, "who": who, "round": when[1]}
    _keep(connection, ANSWERS, place, {"value": value, "confidence": confidence})
    return int(question.id)


def _keep(connection: Connection, table: Table, place: Mapping[str, object], answer: Mapping[str, object]) -> None:
    """Write an answer, which replaces an earlier answer."""
    wanted = {**place, **answer}
    statement = (
        postgresql.insert(table).values(wanted).on_conflict_do_update(index_elements=list(place), set_=answer)
        if connection.dialect.name == "postgresql"
        else sqlite.insert(table).values(wanted).on_conflict_do_update(index_elements=list(place), set_=answer)
    )
    connection.execute(statement)
