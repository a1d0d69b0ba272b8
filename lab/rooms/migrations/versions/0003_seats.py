"""Let a room sign the seats of its people, note when they came, and have a door."""

import secrets
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_DAY = 24 * 60 * 60
# The new columns of rooms: the type of each column, and the value that existing rooms get.
_ROOMS: dict[str, tuple[sa.types.TypeEngine[Any], str]] = {
    "seal": (sa.String(22), ""),
    "created": (sa.BigInteger(), "0"),
    "door_open": (sa.SmallInteger(), "1"),
    "busy_until": (sa.Double(), "0"),
}


def upgrade() -> None:
    for name, (kind, first) in _ROOMS.items():
        op.add_column("rooms", sa.Column(name, kind, nullable=False, server_default=first))
    op.add_column("participants", sa.Column("joined", sa.BigInteger, nullable=False, server_default="0"))
    rooms = sa.table("rooms", sa.column("id"), sa.column("seal"), sa.column("created"), sa.column("expires"))
    for room in op.get_bind().execute(sa.select(rooms.c.id, rooms.c.expires)).all():
        sealed = {"seal": secrets.token_urlsafe(16), "created": room.expires - _DAY}
        op.execute(rooms.update().where(rooms.c.id == room.id).values(sealed))


def downgrade() -> None:
    op.drop_column("participants", "joined")
    for name in _ROOMS:
        op.drop_column("rooms", name)
