"""Run the migrations on the connection that :func:`lab.rooms.database.open_database` gives, in its transaction."""

from alembic import context

from lab.rooms.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
