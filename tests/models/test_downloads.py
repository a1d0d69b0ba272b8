"""A download goes on by itself, once for all who want it, tells how far it is, and ends when it is told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.models import hub
from lab.models.catalogue import ModelCard, ModelUnavailable

ENTRY = ModelCard("a-model", "A model", "bert", 100, "MIT", "a/model")


class Slow:
    """In place of the Hub's download: each call of :meth:`arrive` brings megabytes."""

    def __init__(self) -> None:
        self.calls = 0
        self._arrived: list[float | None] = []
        self._more = threading.Condition()

    def arrive(self, megabytes: float | None) -> None:
        """So many have arrived in all; None: it is complete."""
        with self._more:
            self._arrived.append(megabytes)
            self._more.notify()

    def download(self, entry: ModelCard, seen: hub.Seen) -> Path:
        self.calls += 1
        while True:
            with self._more:
                assert self._more.wait_for(lambda: self._arrived, timeout=20)
                megabytes = self._arrived.pop(0)
            if megabytes is None:
                return Path("/nowhere")
            seen(megabytes, entry.megabytes)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    fake = Slow()
    monkeypatch.setattr(hub, "download", fake.download)
    yield fake
    fake.arrive(None)
    until(lambda: hub.running(ENTRY.id) is None)


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_tells_how_far_it_is_and_is_gone_when_it_is_complete(slow: Slow) -> None:
    assert hub.running(ENTRY.id) is None
    found = hub.start(ENTRY)
    assert (found.done, found.planned, found.share) == (0.0, 0, 0.0)
    slow.arrive(25.0)
    until(lambda: found.done == 25.0)
    assert (found.planned, found.share) == (100, 0.25)
    assert hub.running(ENTRY.id) is found
    slow.arrive(None)
    until(lambda: hub.running(ENTRY.id) is None)
    assert found.error is None


def test_whoever_asks_in_between_waits_for_the_same_one(slow: Slow) -> None:
    first = hub.start(ENTRY)
    slow.arrive(5.0)
    assert hub.start(ENTRY) is first
    until(lambda: first.done == 5.0)
    assert slow.calls == 1


def test_stopped_it_ends_with_the_next_bytes_and_can_begin_anew(slow: Slow) -> None:
    first = hub.start(ENTRY)
    slow.arrive(5.0)
    until(lambda: first.done == 5.0)
    first.stop()
    assert hub.running(ENTRY.id) is None
    slow.arrive(6.0)
    until(lambda: not any(thread.name == f"job download {ENTRY.id}" for thread in threading.enumerate()))
    assert (first.done, first.error) == (5.0, None)
    again = hub.start(ENTRY)
    assert again is not first and slow.calls <= 2


def test_why_it_failed_is_kept_until_somebody_tries_again(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(entry: ModelCard, seen: hub.Seen) -> Path:
        raise ModelUnavailable("The Hub cannot be reached.")

    with monkeypatch.context() as patch:
        patch.setattr(hub, "download", refuse)
        failed = hub.start(ENTRY)
        until(lambda: failed.error is not None)
    assert hub.running(ENTRY.id) is failed and str(failed.error) == "The Hub cannot be reached."
    assert hub.start(ENTRY) is not failed
