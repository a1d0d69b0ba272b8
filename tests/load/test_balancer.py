"""The balancer that the load test starts is the one that compose.yaml starts."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from email.message import Message

import pytest
from websockets.exceptions import InvalidStatus

from benchmarks.balancer import CONFIG, configured, proxied
from benchmarks.server import Lab
from benchmarks.visitor import visiting
from lab.rooms.rooms import MOST_PARTICIPANTS
from tests.load.test_load import run

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


def test_an_address_that_asks_without_end_waits_and_a_school_does_not(lab: Lab) -> None:
    requests, visits = (int(each) for each in re.findall(r"sc_http_req_rate\(\d\) gt (\d+)", CONFIG.read_text("utf-8")))
    assert requests >= 2 * MOST_PARTICIPANTS * REQUESTS_OF_A_PAGE and visits >= 2 * MOST_PARTICIPANTS

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
