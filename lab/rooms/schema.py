"""The tables of rooms, made when they are missing, and dropped a day after they were used last.

The names of the tables carry the version of the schema. So a server of another version, which may run beside this one
on the same database, keeps its own tables and its own rooms: a class survives an update. No row is ever converted,
because a room lives for a day at most. Whoever changes a table here raises ``VERSION``.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)

VERSION = 7
LIFE = 24 * 60 * 60  # seconds until a room and its answers are deleted
LONGEST_SENTENCE = 120  # characters
METADATA = MetaData()
_LOCK = 7_146_205  # lock number in Postgres, which can be any number that nobody else uses
# SQLite only auto-increments columns of type INTEGER.
_ID = BigInteger().with_variant(Integer, "sqlite")
_HASH = String(64)  # SHA-256, hexadecimal

# Times are seconds since 1970. ``version`` grows with every change that a participant's page has to show. ``seal``
# signs the seats of this room; all servers of the database know it, and it is deleted with the room.
# ``address`` is a keyed hash of the address from which the room was opened; empty if it is not known.
# ``door_open`` and ``busy_until`` are the room's door (lab.rooms.states). ``closes`` is the time on the clock of the
# open round, 0 without a clock.
# ``series`` are the questions that the teacher has prepared (lab.rooms.series), ``place`` is the number of those asked.
ROOMS = Table(
    f"rooms_v{VERSION}",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("code", String(6), nullable=False, unique=True),
    Column("key_hash", _HASH, nullable=False),
    Column("seal", String(22), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False, index=True),
    Column("version", Integer, nullable=False),
    Column("phase", String(20), nullable=False),
    Column("number", Integer, nullable=False),
    Column("door_open", SmallInteger, nullable=False),
    Column("busy_until", Double, nullable=False),
    Column("address", String(32), nullable=False),
    Column("closes", Double, nullable=False),
    Column("series", Text, nullable=False),
    Column("place", Integer, nullable=False),
)
# ``posed`` is a question as JSON (lab.rooms.questions).
QUESTIONS = Table(
    f"questions_v{VERSION}",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("room_id", ForeignKey(ROOMS.c.id, ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("posed", Text, nullable=False),
    UniqueConstraint("room_id", "number"),
)
PARTICIPANTS = Table(
    f"participants_v{VERSION}",
    METADATA,
    Column("room_id", ForeignKey(ROOMS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("who", _HASH, primary_key=True),
    Column("joined", BigInteger, nullable=False),
)
# A participant has one answer to a question per round, which the key enforces even if an answer is sent twice.
# ``value`` is the place of the chosen option, from 0.
ANSWERS = Table(
    f"answers_v{VERSION}",
    METADATA,
    Column("question_id", ForeignKey(QUESTIONS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("round", SmallInteger, primary_key=True),
    Column("who", _HASH, primary_key=True),
    Column("value", SmallInteger, nullable=False),
    Column("confidence", SmallInteger, nullable=False),
)
# The sentences with which a class teaches a model: one from each participant, whose label is the answer.
SENTENCES = Table(
    f"sentences_v{VERSION}",
    METADATA,
    Column("question_id", ForeignKey(QUESTIONS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("who", _HASH, primary_key=True),
    Column("text", String(LONGEST_SENTENCE), nullable=False),
)
_OWN = tuple(METADATA.tables)
# The tables of all versions, and when a server of their version was started, or opened a room, for the last time. A day
# later all of their rooms are over. This table is the same in every version.
USES = Table(
    "tables_of_rooms",
    METADATA,
    Column("name", String(63), primary_key=True),
    Column("used", BigInteger, nullable=False),
)
# Tables without a version in their names were made while migrations converted the rows; this was the last migration.
_UNVERSIONED, _REVISION = ("answers", "participants", "questions", "rooms", "alembic_version"), "0004"


def make_tables(connection: Connection, now: int) -> None:
    """Make the tables that are missing. If several servers start at once, the first one makes them."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    METADATA.create_all(connection)
    known = set(connection.scalars(select(USES.c.name)))
    new = [name for name in (*_OWN, *_unversioned(connection)) if name not in known]
    if new:
        connection.execute(insert(USES), [{"name": name, "used": now} for name in new])
    note_use(connection, now)


def note_use(connection: Connection, now: int) -> None:
    """Note that a room was opened in the tables of this version."""
    connection.execute(update(USES).where(USES.c.name.in_(_OWN)).values(used=now))


def drop_unused(connection: Connection, now: int) -> int | None:
    """Drop the tables of other versions in which no room can be left, with whatever is in them.

    Returns the time, in seconds since 1970, at which the next tables are due; None if there are none.
    """
    other, over = USES.c.name.not_in(_OWN), USES.c.used <= now - LIFE
    names = set(connection.scalars(select(USES.c.name).where(other, over)))
    if names:
        unused = MetaData()
        unused.reflect(connection, only=lambda name, _: name in names)
        unused.drop_all(connection)
        connection.execute(USES.delete().where(USES.c.name.in_(names)))
    last = connection.scalar(select(func.min(USES.c.used)).where(other))
    return None if last is None else last + LIFE


def _unversioned(connection: Connection) -> tuple[str, ...]:
    """The tables without a version, if they are the lab's."""
    there = inspect(connection).has_table("alembic_version")
    found = connection.scalar(text("SELECT version_num FROM alembic_version")) if there else None
    return _UNVERSIONED if found == _REVISION else ()
