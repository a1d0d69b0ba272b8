"""The database of rooms: a SQLite file, or Postgres for several servers. Missing tables are made on opening."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError

from lab.rooms.log import say_once
from lab.rooms.schema import make_tables

_BUSY = 5.0  # seconds for which a writer waits for the previous writer


class Unreachable(RuntimeError):
    """Raised if the database does not answer. The data of the failed transaction are not written.

    The message is only for the operator, as it may contain the address.
    """


def open_database(url: str) -> Engine:
    """An engine for ``url`` (``sqlite:///rooms.db``, ``postgresql+psycopg://…``) that has the tables of rooms.

    Raises Unreachable if the database does not answer.
    """
    with _answering():
        engine = _engine(url)
    with writing(engine) as connection:
        make_tables(connection, int(time.time()))
    return engine


def default_url() -> str:
    """The address in ``LAB_ROOMS``; without this variable, a file in the home folder of the server's user."""
    try:
        home = Path.home()
    except RuntimeError:  # the user has no home folder
        home = Path(tempfile.gettempdir())
    folder = home / ".cache" / "inside-bert"
    return os.environ.get("LAB_ROOMS") or f"sqlite:///{folder / 'rooms.db'}"


def _engine(url: str) -> Engine:
    """An engine that has not connected yet. Raises ArgumentError, ImportError or OSError."""
    address = make_url(url)
    if address.get_backend_name() != "sqlite":
        # The server ends a statement that takes longer; if the server itself hangs, this side stops to wait.
        options = f"-c statement_timeout={int(1000 * _BUSY)} -c idle_in_transaction_session_timeout={int(1000 * _BUSY)}"
        connecting = {"connect_timeout": int(_BUSY), "options": options}
        engine = create_engine(address, pool_pre_ping=True, connect_args=connecting)
        event.listen(engine, "do_connect", _connect_with_patience)
        return engine
    if address.database:
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(address, connect_args={"timeout": _BUSY})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes. The transaction is committed at the end, and undone if anything is raised.

    SQLite has one writer. If a transaction begins as a reader and then writes, it is refused at once while another
    transaction writes, however long its timeout is; so this transaction begins as a writer (``BEGIN IMMEDIATE``).
    """
    with _answering(), engine.execution_options(writes=True).begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads; everything it reads is from the same moment."""
    with _answering(), engine.begin() as connection:
        yield connection


@contextmanager
def _answering() -> Iterator[None]:
    """Turn the errors of a database and its disk into Unreachable, with a line in the log."""
    try:
        yield
    except IntegrityError:
        raise
    except (ArgumentError, ImportError) as wrong:
        raise _unreachable("LAB_ROOMS is not the address of a database that this server can use.") from wrong
    except OSError as refused:
        raise _unreachable(f"the folder of the database cannot be written ({refused.strerror}).") from refused
    except DatabaseError as away:
        first = (str(away.orig).strip().splitlines() or [type(away).__name__])[0]
        raise _unreachable(f"the database does not answer ({first}).") from away


def _unreachable(reason: str) -> Unreachable:
    say_once(reason)
    return Unreachable(reason[0].upper() + reason[1:])


def _connect_with_patience(_: object, __: object, arguments: list[Any], named: dict[str, Any]) -> object:
    """Connect to Postgres so that every answer must come in time, also from a server that hangs."""
    import psycopg

    class Patient(psycopg.Connection[Any]):
        """A connection that is closed if an answer does not come in time."""

        def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            """Wait for the answer that ``gen`` reads."""
            try:
                return super().wait(gen, interval, timeout or _BUSY + 1)  # the server's own limit comes first
            except psycopg.errors._WaitTimeout as late:
                self.pgconn.finish()
                raise psycopg.OperationalError(f"no answer within {_BUSY + 1:.0f} s") from late

    return Patient.connect(*arguments, **named)


def look(url: str) -> None:
    """Ask the database at ``url`` a question, for a health check, which changes nothing and waits for no writer.

    Raises Unreachable, also for a damaged SQLite file. A SQLite file that is not there yet is made by the first room.
    """
    with _answering():
        address = make_url(url)
        is_file = address.get_backend_name() == "sqlite"
        if is_file and address.database:
            path = Path(address.database)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                return
            engine = create_engine(f"sqlite:///file:{quote(str(path.absolute()))}?mode=ro&uri=true")
        else:
            engine = _engine(url)
        try:
            with engine.connect() as connection:
                found = connection.scalar(text("PRAGMA quick_check(1)" if is_file else "SELECT 1"))
        finally:
            engine.dispose()
    if is_file and found != "ok":
        raise _unreachable("the file of the database is damaged: docs/deploying.md says what to do.")


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions by itself: see _begin_sqlite
    _write_ahead(connection)
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _write_ahead(connection: Any) -> None:
    """Use a write-ahead log. SQLite does not wait by itself while another connection switches to it."""
    last = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
            time.sleep(0.02)


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
