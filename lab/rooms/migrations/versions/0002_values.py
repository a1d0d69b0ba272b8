"""Make an answer one number: the place of an option, as before, or a number that the learner typed."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("answers") as answers:
        answers.alter_column("option", new_column_name="value", existing_type=sa.SmallInteger(), type_=sa.Double())


def downgrade() -> None:
    with op.batch_alter_table("answers") as answers:
        answers.alter_column("value", new_column_name="option", existing_type=sa.Double(), type_=sa.SmallInteger())
