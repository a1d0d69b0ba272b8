"""Add the tables of rooms, questions, participants and answers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "rooms",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("code", sa.String(6), nullable=False, unique=True),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False, index=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("phase", sa.String(20), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
    )
    op.create_table(
        "questions",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("room_id", _ID, sa.ForeignKey("rooms.id", ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("posed", sa.Text, nullable=False),
        sa.Column("third", sa.Text, nullable=False),
        sa.UniqueConstraint("room_id", "number"),
    )
    op.create_table(
        "participants",
        sa.Column("room_id", _ID, sa.ForeignKey("rooms.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("who", sa.String(64), primary_key=True),
    )
    op.create_table(
        "answers",
        sa.Column("question_id", _ID, sa.ForeignKey("questions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("round", sa.SmallInteger, primary_key=True),
        sa.Column("who", sa.String(64), primary_key=True),
        sa.Column("option", sa.SmallInteger, nullable=False),
        sa.Column("confidence", sa.SmallInteger, nullable=False),
    )


def downgrade() -> None:
    for table in ("answers", "participants", "questions", "rooms"):
        op.drop_table(table)
