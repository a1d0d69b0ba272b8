"""Where rooms are kept: a SQLite file, or Postgres for several servers. The schema is brought up to date on opening."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import OperationalError

_BUSY = 5.0  # seconds that a writer waits for the one before
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_146_205  # of Postgres: any number that nobody else takes


class Unreachable(RuntimeError):
    """Raised where the database does not answer. What was to be written is not written."""


def open_database(url: str) -> Engine:
    """An engine for ``url`` (``sqlite:///rooms.db``, ``postgresql+psycopg://…``), its tables up to date.

    Raises Unreachable where the database does not answer.
    """
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"timeout": _BUSY})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        engine = create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": int(_BUSY)})
    with writing(engine) as connection:
        command.upgrade(migrations(connection), "head")
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes. It is committed at the end, and undone where anything is raised.

    SQLite has one writer. A transaction that begins as a reader and then writes is refused at once where another
    writes, however long it was told to wait; so it begins as a writer (``BEGIN IMMEDIATE``).
    """
    with _answering(), engine.execution_options(writes=True).begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads: all that it reads was true at one moment."""
    with _answering(), engine.begin() as connection:
        yield connection


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except OperationalError as away:
        raise Unreachable("The database does not answer.") from away


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver begins no transaction by itself: see _begin_sqlite
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def migrations(connection: Connection) -> Config:
    """What Alembic's commands take; where several servers start at once, one of them goes on."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
