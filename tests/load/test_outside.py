"""No visitor makes a server ask anybody outside, and a connection from a foreign page holds nobody up."""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.server import Lab, running_lab
from lab.first_visit import SUBPROTOCOLS
from tests.load.test_load import run
from tests.thorough import at_night

KNOCKS = 3


@contextmanager
def silence() -> Iterator[tuple[socket.socket, dict[str, str]]]:
    """A listener that never answers, and the environment that makes it the way to everybody outside."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        listener.settimeout(0.2)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        yield listener, {"http_proxy": address, "https_proxy": address, "no_proxy": "127.0.0.1,localhost"}


def asked_outside(listener: socket.socket) -> bool:
    """Return whether anybody has come to the listener."""
    try:
        listener.accept()[0].close()
    except TimeoutError:
        return False
    return True


async def knock(lab: Lab, origin: str) -> int:
    """Open a connection as a page of ``origin`` does; return the status: 101 if the server takes it."""
    address = lab.url.replace("http", "ws", 1) + "/_stcore/stream"
    try:
        async with connect(address, subprotocols=SUBPROTOCOLS, origin=origin):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", pytest.param("http://[::1", marks=at_night), pytest.param("null", marks=at_night)],
)
def test_a_foreign_page_is_refused_at_once_and_nobody_outside_is_asked(origin: str) -> None:
    with silence() as (listener, environment), running_lab(environment=environment) as lab:
        assert not asked_outside(listener), "nor when the server starts"
        begun = time.monotonic()
        assert all(run(knock(lab, origin)) != 101 for _ in range(KNOCKS))
        urllib.request.urlopen(lab.url + "/_stcore/health").read()
        assert time.monotonic() - begun < 3.0, "each would take two seconds"
        assert not asked_outside(listener)
        assert run(knock(lab, lab.url)) == 101, "its own page comes in"
