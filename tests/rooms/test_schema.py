"""Servers of two versions on one database: each has its own tables, which are dropped a day after their last room."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, event, inspect, text

from lab.rooms import database
from lab.rooms.codes import new_secret
from lab.rooms.database import open_database, writing
from lab.rooms.rooms import Rooms
from lab.rooms.schema import LIFE, USES, VERSION, make_tables
from lab.rooms.server import RoomServer
from tests.rooms.test_rooms import opened, rounds
from tests.rooms.test_states import Time, clock  # noqa: F401, which is a fixture

OLD = f"_v{VERSION - 1}"


def of_version_before(url: str) -> Engine:
    """A server that is still of the version before: all that it says to the database has that version's names."""
    engine = database._engine(url)

    def renamed(said: object) -> object:
        if isinstance(said, str):
            return said.replace(f"_v{VERSION}", OLD)
        if isinstance(said, dict):
            return {key: renamed(value) for key, value in said.items()}
        return type(said)(map(renamed, said)) if isinstance(said, (list, tuple)) else said

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def rename(_: Connection, __: object, statement: str, parameters: object, *___: object) -> tuple[object, object]:
        return renamed(statement), renamed(parameters)

    with writing(engine) as connection:
        make_tables(connection, int(database.time.time()))
    return engine


def tables(engine: Engine, ending: str) -> set[str]:
    with engine.begin() as connection:
        return {name for name in inspect(connection).get_table_names() if name.endswith(ending)}


def test_a_class_in_progress_survives_an_update_of_the_server(url: str) -> None:
    old = of_version_before(url)
    code, key, (first, *others) = opened(Rooms(old))
    Rooms(old).vote(code, first, 1, 1, 0, 2)
    new = Rooms(open_database(url))
    assert code not in new.states()
    taught, its_key, (somebody, *_) = opened(new)
    new.vote(taught, somebody, 1, 1, 1, 3)
    new.tidy()
    for who in others:
        Rooms(old).vote(code, who, 1, 1, 2, 1)
    assert rounds(Rooms(old), code, key)[0].options == (1, 0, 2)
    assert rounds(new, taught, its_key)[0].options == (0, 1, 0)
    assert len(tables(old, OLD)) == len(tables(old, f"_v{VERSION}")) == 5
    old.dispose()


def test_tables_go_a_day_after_the_last_room_of_their_version(url: str, clock: Time) -> None:  # noqa: F811
    old = of_version_before(url)
    clock.now += 3600
    opened(Rooms(old))
    last, engine = int(clock.now), open_database(url)
    clock.now += LIFE - 1
    Rooms(engine).create()
    Rooms(engine).tidy()
    assert len(tables(engine, OLD)) == 5
    clock.now += 1
    assert Rooms(engine).tidy() is not None and clock.now == last + LIFE
    assert not tables(engine, OLD) and len(tables(engine, f"_v{VERSION}")) == 5
    with engine.begin() as connection:
        assert not [name for name in connection.scalars(USES.select()) if name.endswith(OLD)]
    engine.dispose()
    old.dispose()


def test_a_server_whose_tables_were_dropped_makes_them_again(url: str) -> None:
    server = RoomServer(url)
    server.create()
    with writing(open_database(url)) as connection:
        for name in ("sentences", "answers", "participants", "questions", "rooms"):
            connection.execute(text(f"DROP TABLE {name}_v{VERSION}"))
    server.forget()
    with pytest.raises(database.Unreachable):
        server.create()
    server.forget()
    code, _ = server.create()
    assert server.state(code).people == 0


def test_servers_that_start_at_once_make_the_tables_once(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        servers = [Rooms(engine) for engine in pool.map(open_database, [url] * 8)]
    code, _ = servers[0].create()
    servers[-1].join(code, new_secret())
    assert [each.states()[code].people for each in servers] == [1] * 8


class Refusing:
    """A connection of SQLite that refuses to switch to a log, as real ones do when several open a new file at once."""

    def __init__(self, code: int, times: int) -> None:
        self.code, self.left, self.done = code, times, list[str]()

    def execute(self, pragma: str) -> None:
        if pragma.endswith("journal_mode=WAL") and self.left:
            self.left -= 1
            error = sqlite3.OperationalError("refused")
            error.sqlite_errorcode = self.code
            raise error
        self.done.append(pragma)


def test_a_connection_waits_for_another_one_that_switches_to_the_log() -> None:
    busy = Refusing(sqlite3.SQLITE_BUSY, 3)
    database._prepare_sqlite(busy, None)
    assert busy.left == 0 and len(busy.done) == 3
    full = Refusing(sqlite3.SQLITE_FULL, 1)
    with pytest.raises(sqlite3.OperationalError, match="refused"):
        database._prepare_sqlite(full, None)


@pytest.mark.parametrize("revision", ["0004", "1975ea83b712"])
def test_tables_from_the_time_of_migrations_go_too_but_nobody_else_s(url: str, clock: Time, revision: str) -> None:  # noqa: F811
    engine = database._engine(url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": revision})
        connection.execute(text("CREATE TABLE rooms (id INTEGER PRIMARY KEY)"))
        connection.execute(text("CREATE TABLE questions (id INTEGER PRIMARY KEY REFERENCES rooms (id))"))
        connection.execute(text("CREATE TABLE lessons (id INTEGER PRIMARY KEY)"))
    server = Rooms(open_database(url))
    for seconds, there in ((0, 4), (LIFE - 1, 4), (LIFE, 1 if revision == "0004" else 4)):
        clock.now = 1_800_000_000.0 + seconds
        server.tidy()
        found = {name for name in tables(engine, "") if not re.search(r"_v\d+$|^tables_of_rooms$", name)}
        assert "lessons" in found and len(found) == there
    engine.dispose()
