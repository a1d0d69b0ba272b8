"""Note by whom a room was opened: a keyed hash of an address, for the quota of rooms of one address."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("rooms", sa.Column("address", sa.String(32), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("rooms", "address")
