"""What can go wrong with a database and its disk: an Unreachable for the page, and one line for the operator."""

from __future__ import annotations

import logging
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from lab.rooms import database, log
from lab.rooms.database import Unreachable, default_url, open_database
from lab.rooms.rooms import Rooms
from lab.rooms.server import MOST_NEW, Full, RoomServer
from tests.rooms.test_rooms import posed
from tests.rooms.test_server import Clock


@pytest.fixture(autouse=True)
def told(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The log of rooms, from the beginning."""
    log.forget()
    caplog.set_level(logging.INFO, "lab.rooms")
    yield caplog
    log.forget()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 300 kB, which only root may make."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", folder], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("a disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("url", ["nonsense", "nonsense://x", "postgresql+nothing://u:secret@h/d", "mysql://h/d"])
def test_an_address_of_nothing(url: str, told: pytest.LogCaptureFixture) -> None:
    server = RoomServer(url)
    for _ in range(3):
        with pytest.raises(Unreachable):
            server.create()
    assert told.messages == ["LAB_ROOMS is not the address of a database that this server can use."]


def test_a_home_where_nobody_may_write(monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture) -> None:
    monkeypatch.delenv("LAB_ROOMS", raising=False)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    with pytest.raises(Unreachable, match="cannot be written"):
        open_database(default_url())
    assert len(told.messages) == 1


def test_no_home_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("LAB_ROOMS", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", none)
    assert Path(default_url().removeprefix("sqlite:///")).is_absolute()


def test_a_full_disk_loses_nothing_that_was_told(small_disk: Path, told: pytest.LogCaptureFixture) -> None:
    rooms = Rooms(open_database(f"sqlite:///{small_disk / 'rooms.db'}"))
    code, key = rooms.create()
    left = os.statvfs(small_disk)
    (small_disk / "else").write_bytes(bytes(left.f_bavail * left.f_frsize))
    refused = 0
    for _ in range(20):
        try:
            rooms.create()
        except Unreachable:
            refused += 1
    assert refused > 0
    (line,) = [each for each in told.messages if "full" in each]
    assert "INSERT" not in line and "\n" not in line
    (small_disk / "else").unlink()
    rooms.ask(code, key, posed())
    assert code in rooms.states()


def test_a_database_that_goes_away_is_one_line_and_one_when_it_is_back(
    tmp_path: Path, told: pytest.LogCaptureFixture
) -> None:
    path, clock = tmp_path / "rooms.db", Clock()
    server = RoomServer(f"sqlite:///{path}", clock)
    code, _ = server.create()
    assert told.messages == ["a room was opened."] and code not in told.text
    server.rooms._engine.dispose()  # its last connection writes everything into the file
    content = path.read_bytes()
    for each in tmp_path.glob("rooms.db*"):
        each.write_bytes(b"no database" * 1000)
    for _ in range(5):
        clock.now += 1
        with pytest.raises(Unreachable):
            server.state(code)
    assert len(told.messages) == 2 and "does not answer" in told.messages[1]
    for each in tmp_path.glob("rooms.db*"):
        each.unlink()
    path.write_bytes(content)
    clock.now += 1
    assert server.state(code).people == 0
    (back,) = told.messages[2:]
    assert "answers again" in back


def test_a_limit_that_is_hit_is_one_line(tmp_path: Path, told: pytest.LogCaptureFixture) -> None:
    server = RoomServer(f"sqlite:///{tmp_path / 'rooms.db'}", Clock())
    for _ in range(MOST_NEW):
        server.create()
    for _ in range(3):
        with pytest.raises(Full):
            server.create()
    assert len([each for each in told.messages if "within a minute" in each]) == 1


def test_a_postgres_that_hangs_is_away_and_comes_back(
    postgres: str, told: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not down: it takes the question and never answers."""
    monkeypatch.setattr(database, "_BUSY", 1.0)
    engine = open_database(postgres)
    rooms = Rooms(engine)
    code, key = rooms.create()
    with engine.connect() as connection:
        process = connection.scalar(text("SELECT pg_backend_pid()"))
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        try:
            rooms.taught(code, key)  # either a new connection answers, or it is told
        except Unreachable:
            assert any("does not answer" in line for line in told.messages)
        assert time.monotonic() < begun + 10
    finally:
        os.kill(process, signal.SIGCONT)
    assert rooms.taught(code, key).state.code == code
    rooms.delete(code, key)
    engine.dispose()


def test_a_statement_that_does_not_end_is_ended(
    postgres: str, told: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY", 1.0)
    engine = open_database(postgres)
    begun = time.monotonic()
    with pytest.raises(Unreachable), database.reading(engine) as connection:
        connection.execute(text("SELECT pg_sleep(60)"))
    assert time.monotonic() < begun + 5 and len(told.messages) == 1
    engine.dispose()


def test_a_server_that_stops_to_answer_in_a_transaction_is_away(
    postgres: str, told: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY", 1.0)
    engine, process = open_database(postgres), 0
    begun = time.monotonic()
    try:
        with pytest.raises(Unreachable), database.reading(engine) as connection:
            process = connection.scalar(text("SELECT pg_backend_pid()")) or 0
            os.kill(process, signal.SIGSTOP)
            connection.execute(text("SELECT 1"))
    finally:
        os.kill(process, signal.SIGCONT)
    assert time.monotonic() < begun + 8 and any("does not answer" in line for line in told.messages)
    engine.dispose()
