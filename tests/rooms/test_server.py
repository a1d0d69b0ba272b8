"""One server's view of the rooms: one reading for all, limits, a database that is away for a while."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from lab.rooms import log, states
from lab.rooms import rooms as rooms_module
from lab.rooms import server as module
from lab.rooms.codes import new_code
from lab.rooms.database import Unreachable, open_database
from lab.rooms.rooms import Full, NoSuchRoom, Rooms, TooManyGuesses, Waits
from lab.rooms.schema import ROOMS
from lab.rooms.server import MINUTE, MOST_GUESSES, MOST_NEW, MOST_WRONG, RoomServer
from lab.rooms.states import Phase
from tests.rooms.test_rooms import posed


class Clock:
    """Stands still until it is told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(url: str, clock: Clock) -> RoomServer:
    return RoomServer(url, clock)


def test_a_room_is_read_once_in_a_quarter_of_a_second_for_all(server: RoomServer, url: str, clock: Clock) -> None:
    code, key = server.create()
    assert server.state(code).phase is Phase.LOBBY
    Rooms(open_database(url)).ask(code, key, posed())  # by another server
    assert server.state(code).phase is Phase.LOBBY
    clock.now += 0.25
    assert server.state(code).phase is Phase.OPEN
    server.rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    server.forget()  # this one knows at once
    assert server.state(code).phase is Phase.CLOSED


def test_rooms_that_are_opened_are_limited(server: RoomServer, clock: Clock) -> None:
    for _ in range(MOST_NEW):
        server.create()
    with pytest.raises(Full, match="within a minute"):
        server.create()
    clock.now += MINUTE
    server.create()


def test_rooms_that_are_opened_at_the_same_moment_are_limited_too(
    server: RoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is refused, or does not reach the database, takes nobody's place."""
    many, create = MOST_NEW + 5, Rooms.create
    waiting = threading.Barrier(many, timeout=1.0)

    def at_once(rooms: Rooms, address: str = "") -> tuple[str, str]:
        with suppress(threading.BrokenBarrierError):
            waiting.wait()  # every request has passed the check that there is to pass
        return create(rooms, address)

    def opened(_: int) -> bool:
        try:
            return bool(server.create())
        except Full:
            return False

    server.rooms.tidy()
    with monkeypatch.context() as patched, ThreadPoolExecutor(many) as pool:
        patched.setattr(Rooms, "create", at_once)
        assert sum(pool.map(opened, range(many))) == MOST_NEW


@pytest.mark.parametrize("refusal", [Full, Unreachable])
def test_a_room_that_was_not_made_takes_no_place(
    server: RoomServer, monkeypatch: pytest.MonkeyPatch, refusal: type[RuntimeError]
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise refusal("no room")

    server.rooms.tidy()
    with monkeypatch.context() as patched:
        patched.setattr(Rooms, "create", refused)
        for _ in range(MOST_NEW + 1):
            with pytest.raises(refusal, match="no room"):
                server.create()
    for _ in range(MOST_NEW):
        assert server.create()


def test_a_room_goes_when_it_is_over_though_nobody_comes(
    server: RoomServer, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a timer of the server that made it; and by the next server that opens the database."""
    monkeypatch.setattr(module, "UNUSED_LIFE", 0)
    monkeypatch.setattr(rooms_module, "UNUSED_LIFE", 1)
    server.create()
    server.create()  # later by as much as the first timer fires before its end
    end = time.monotonic() + 10
    while _rooms(engine) and time.monotonic() < end:
        time.sleep(0.1)
    assert _rooms(engine) == 0


def test_a_server_that_starts_deletes_what_is_over(
    url: str, engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms_module, "UNUSED_LIFE", 0)
    Rooms(engine).create()
    assert _rooms(engine) == 1
    with pytest.raises(NoSuchRoom):
        RoomServer(url, clock).state("222222")
    assert _rooms(engine) == 0


def _rooms(engine: Engine) -> int:
    with engine.begin() as connection:
        return connection.scalar(select(func.count()).select_from(ROOMS)) or 0


def test_who_guesses_waits_whatever_comes_next_and_others_do_not(
    server: RoomServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    log.forget()
    right, _ = server.create()
    wrong = next(code for code in iter(new_code, None) if code != right)
    for _ in range(MOST_GUESSES):
        with pytest.raises(NoSuchRoom, match="no room"):
            server.find(wrong, "guesser")
    for code in (wrong, right):
        with pytest.raises(TooManyGuesses):
            server.find(code, "guesser")
    assert server.find(right, "somebody else").code == right
    clock.now += MINUTE
    assert server.find(right, "guesser").code == right
    assert not [line for line in caplog.messages if "guessing" in line]
    for number in range(MOST_WRONG + 1):
        with pytest.raises(NoSuchRoom, match="no room"):
            server.find(wrong, number)
    assert len([line for line in caplog.messages if "guessing" in line]) == 1
    assert server.find(right, "somebody else").code == right


def test_a_database_that_is_away_is_asked_once_a_second_and_found_again(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def away(url: str) -> object:
        asked.append(url)
        raise Unreachable("The database does not answer.")

    server = RoomServer(f"sqlite:///{tmp_path / 'rooms.db'}", clock)
    with monkeypatch.context() as patched:
        patched.setattr(module, "open_database", away)
        for _ in range(3):
            with pytest.raises(Unreachable):
                server.state("222222")
        assert len(asked) == 1
        clock.now += 1
        with pytest.raises(Unreachable):
            server.create()
        assert len(asked) == 2
    clock.now += 1
    code, _ = server.create()
    assert server.state(code).people == 0


def test_whoever_is_not_let_in_is_a_line_in_the_log_without_a_code(
    server: RoomServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.forget()
    caplog.set_level(logging.INFO, "lab.rooms")
    monkeypatch.setattr(states, "AT_ONCE", 1)
    code, key = server.create()
    seat = server.join(code, "first")
    for visit in ("second", "third"):
        with pytest.raises(Waits):
            server.join(code, visit)
    assert len(caplog.messages) == 2 and "not let into a room" in caplog.messages[1]
    assert not [each for each in (code, key, seat, "second") if each in caplog.text]
    assert server.join(code, "first") == seat


def test_a_room_s_times_are_lines_in_the_log_without_a_code(
    server: RoomServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "lab.rooms")
    code, key = server.create()
    server.rooms.delete(code, key)
    monkeypatch.setattr(rooms_module, "UNUSED_LIFE", 0)
    server.create()
    server.rooms.tidy()
    opened, deleted, again, over = caplog.messages
    assert opened == again == "a room was opened." and over == "rooms whose time was over are deleted: 1."
    assert "deleted by its teacher" in deleted and code not in caplog.text


def test_a_made_up_key_is_no_teacher_s(server: RoomServer, clock: Clock) -> None:
    code, key = server.create()
    assert server.is_teachers(code, key) and not server.is_teachers(code, "made up")
    server.rooms.delete(code, key)
    assert server.is_teachers(code, key), "asked a moment ago"
    clock.now += rooms_module.SIGN
    assert not server.is_teachers(code, key)


def test_an_address_with_a_full_quota_keeps_nobody_from_opening(
    server: RoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms_module, "MOST_OF_ADDRESS", 2)
    for _ in range(2):
        server.create("stranger")
    for _ in range(2 * MOST_NEW):
        with pytest.raises(Full, match="opened from here"):
            server.create("stranger")
    server.create("teacher")
