"""The balancer that the load test starts is the one that compose.yaml starts."""

from __future__ import annotations

import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from email.message import Message

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.balancer import CONFIG, configured, proxied
from benchmarks.server import Lab
from benchmarks.visitor import visiting
from lab.first_visit import SUBPROTOCOLS
from lab.rooms.rooms import MOST_PARTICIPANTS
from tests.load.test_load import run
from tests.thorough import at_night

# What a browser with an empty cache asks for when it opens the lab, rounded up; Playwright counted.
REQUESTS_OF_A_PAGE = 150


def test_only_where_the_servers_are_differs() -> None:
    theirs = CONFIG.read_text("utf-8")
    ours = configured(theirs, 9000, ["127.0.0.1:1", "127.0.0.1:2"])
    added = [line for line in ours.splitlines() if line not in theirs.splitlines()]
    gone = [line for line in theirs.splitlines() if line not in ours.splitlines()]
    assert added == ["    bind 127.0.0.1:9000", "    server lab1 127.0.0.1:1", "    server lab2 127.0.0.1:2"]
    assert all(any(word in line for word in ("docker", "nameserver", "hold valid", "bind :8501")) for line in gone)
    assert "cookie replica insert" in ours and "httpchk" in ours


def test_a_file_that_became_another_is_not_guessed_at() -> None:
    with pytest.raises(ValueError, match="0 times"):
        configured("frontend web\n    bind :80\n", 9000, ["127.0.0.1:1"])


def asked(url: str, method: str = "GET") -> tuple[int, Message]:
    """The status and the headers of an answer."""
    data = b"x" if method == "PUT" else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers


def test_uploads_and_figures_stay_outside_and_the_lab_inside(lab: Lab) -> None:
    with proxied([lab]) as door:
        for path in ("/_stcore/metrics", "/_stcore/metrics/", "/%5fstcore/%6Detrics", "//_stcore/metrics?families=x"):
            assert asked(lab.url + "/_stcore/metrics")[0] == 200 and asked(door.url + path)[0] == 403, path
        for path in ("/_stcore/upload_file/session/file", "/_stcore/upload%5Ffile/session/file"):
            assert asked(door.url + path, "PUT")[0] == 403, path
        assert asked(door.url + "/_stcore/health")[0] == 200

        async def visit() -> None:
            async with visiting(door.url) as visitor:
                assert not (await visitor.open("Self-attention")).errors

        run(visit())


@pytest.mark.parametrize("frames", ["", "https://moodle.example.org https://a.example"])
def test_only_the_origins_that_the_operator_names_may_frame_the_lab(lab: Lab, frames: str) -> None:
    with proxied([lab], {"LAB_FRAMES": frames}) as door:
        for path in ("/", "/_stcore/metrics"):
            _, headers = asked(door.url + path)
            assert headers["Content-Security-Policy"].strip() == f"frame-ancestors 'self' {frames}".strip()
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "same-origin"
            assert headers.get("Server") is None


def limits(counter: str) -> list[int]:
    """The limits of the configuration on this counter, in their order."""
    return [int(each) for each in re.findall(rf"{counter}\(\d\) gt (\d+)", CONFIG.read_text("utf-8"))]


def test_a_school_behind_one_address_stays_below_every_limit() -> None:
    requests, visits = limits("sc_http_req_rate")
    assert requests >= 2 * MOST_PARTICIPANTS * REQUESTS_OF_A_PAGE and visits >= 2 * MOST_PARTICIPANTS
    most, sockets = limits("sc_conn_cur")
    assert most >= 7 * MOST_PARTICIPANTS and sockets >= 2 * MOST_PARTICIPANTS


@at_night
def test_an_address_that_asks_without_end_waits(lab: Lab) -> None:
    requests, visits = limits("sc_http_req_rate")
    with proxied([lab], change=lambda text: text.replace(f"gt {requests}", "gt 20")) as door:
        statuses = [asked(door.url + "/_stcore/health")[0] for _ in range(40)]
        assert statuses[:10] == [200] * 10 and statuses[-10:] == [429] * 10

    async def come(door: Lab) -> list[bool]:
        come_in = []
        for _ in range(12):
            try:
                async with visiting(door.url) as visitor:
                    come_in.append(not (await visitor.open("")).errors)
            except InvalidStatus as refused:
                assert refused.response.status_code == 429
                come_in.append(False)
        return come_in

    with proxied([lab], change=lambda text: text.replace(f"gt {visits}", "gt 6")) as door:
        assert run(come(door)) == [True] * 6 + [False] * 6
        assert asked(door.url + "/_stcore/health")[0] == 200, "only new visits wait"


@contextmanager
def connections(door: Lab, count: int, source: str) -> Iterator[list[socket.socket]]:
    """Open so many connections to HAProxy from an address of this machine."""
    host, port = door.url.removeprefix("http://").split(":")
    with ExitStack() as held:
        opened = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in opened:
            each.settimeout(20)
            each.bind((source, 0))
            with suppress(ConnectionResetError):  # refused at once, as whoever then listens on it sees
                each.connect((host, int(port)))
        yield opened


def answers(connection: socket.socket) -> bool:
    """Ask for the health check over a connection that stays open, and return whether it is answered."""
    try:
        connection.sendall(b"GET /_stcore/health HTTP/1.1\r\nHost: lab\r\n\r\n")
        return b" 200 " in connection.recv(1000)
    except OSError:
        return False


def is_closed(connection: socket.socket) -> bool:
    """Wait for the other side to close a connection on which nobody asks for anything."""
    try:
        while connection.recv(1000):  # an answer that says so may come before the end
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def test_a_school_behind_one_address_has_room_for_its_connections(lab: Lab) -> None:
    with proxied([lab]) as door, connections(door, 2100, "127.0.0.3") as school:
        assert all(answers(each) for each in school[::50])


def test_connections_that_say_nothing_end_and_hold_nobody_up(lab: Lab) -> None:
    """One address keeps no more than its share, the others are answered meanwhile, and after a while it has none."""
    quick = {f"gt {limits('sc_conn_cur')[0]}": "gt 50", "timeout http-request 10s": "timeout http-request 2s"}
    whole = CONFIG.read_text("utf-8")
    assert all(whole.count(name) == 1 for name in quick)

    def change(text: str) -> str:
        for name, instead in quick.items():
            text = text.replace(name, instead)
        return text.replace("maxconn 9000", "maxconn 100")

    with proxied([lab], change=change) as door, connections(door, 150, "127.0.0.2") as silent:
        for each in silent[::2]:
            with suppress(OSError):
                each.sendall(b"GET / HTTP/1.1\r\nHost: lab\r\n")
        begun = time.monotonic()
        assert asked(door.url + "/_stcore/health")[0] == 200 and time.monotonic() < begun + 1.5
        assert all(is_closed(each) for each in silent)
        with connections(door, 1, "127.0.0.2") as (again,):
            assert answers(again), "the address may come again"


@pytest.mark.parametrize("path", ["/_stcore/stream", "/_stcore/strea%6d", "/%5fstcore/stream%0A"])
def test_the_websockets_of_an_address_are_counted_however_the_path_is_spelled(lab: Lab, path: str) -> None:
    async def come(door: Lab) -> list[bool]:
        come_in = []
        address = door.url.replace("http", "ws", 1) + path
        async with AsyncExitStack() as stack:
            for _ in range(6):
                try:
                    await stack.enter_async_context(connect(address, subprotocols=SUBPROTOCOLS))
                except InvalidStatus as refused:
                    assert refused.response.status_code == 429
                    come_in.append(False)
                else:
                    come_in.append(True)
        return come_in

    with proxied([lab], change=lambda text: text.replace(f"gt {limits('sc_conn_cur')[1]}", "gt 4")) as door:
        assert run(come(door)) == [True] * 4 + [False] * 2
        time.sleep(0.5)
        assert run(come(door)) == [True] * 4 + [False] * 2, "whoever has left no longer counts"
