"""The tables of rooms. Every change of the schema needs a new migration in ``migrations/versions``."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()
# SQLite only auto-increments columns of type INTEGER.
_ID = BigInteger().with_variant(Integer, "sqlite")
_HASH = String(64)  # SHA-256, hexadecimal

# Times are seconds since 1970. ``version`` grows with every change that a participant's page has to show. ``seal``
# the seal signs the seats of this room; all servers of the database know it, and it is deleted with the room.
# ``address`` is a keyed hash of the address from which the room was opened; empty if it is not known.
# ``door_open`` and ``busy_until`` are the room's door (lab.rooms.door).
ROOMS = Table(
    "rooms",
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
)
# ``posed`` and ``third`` are questions as JSON (lab.rooms.questions); ``third`` is empty if there is no third question.
QUESTIONS = Table(
    "questions",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("room_id", ForeignKey("rooms.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("posed", Text, nullable=False),
    Column("third", Text, nullable=False),
    UniqueConstraint("room_id", "number"),
)
PARTICIPANTS = Table(
    "participants",
    METADATA,
    Column("room_id", ForeignKey("rooms.id", ondelete="CASCADE"), primary_key=True),
    Column("who", _HASH, primary_key=True),
    Column("joined", BigInteger, nullable=False),
)
# A participant has one answer to a question per round, which the key enforces even if an answer is sent twice.
# ``value`` is the place of the chosen option, token or head, from 0, or a typed number.
ANSWERS = Table(
    "answers",
    METADATA,
    Column("question_id", ForeignKey("questions.id", ondelete="CASCADE"), primary_key=True),
    Column("round", SmallInteger, primary_key=True),
    Column("who", _HASH, primary_key=True),
    Column("value", Double, nullable=False),
    Column("confidence", SmallInteger, nullable=False),
)
