"""First come, first served: the queue of pages that the server makes.

Python runs one thread at a time and switches threads two hundred times a second. If fifty pages were made at once, all
would be ready only at the end, and their readers would click at the same time from then on; if they are made one after
the other, the first page is ready fifty times earlier, and no page is ready later.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A queue for pages, of which ``at_once`` are made at a time.

    A page that takes longer than ``patience`` seconds (a model is loaded, a toy is trained) goes on, and the next one
    begins beside it: a slow page delays the quick pages by ``patience`` seconds at most.
    """

    def __init__(self, at_once: int, patience: float) -> None:
        self._at_once = at_once
        self._patience = patience
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._since: dict[threading.Event, float] = {}

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and keep the turn until the block ends."""
        mine = threading.Event()
        with self._lock:
            self._waiting.append(mine)
        while not self._begins(mine):
            mine.wait(self._until_a_look(mine))
            mine.clear()
        try:
            yield
        finally:
            with self._lock:
                del self._since[mine]
                self._wake_first()

    def _begins(self, mine: threading.Event) -> bool:
        """Return whether it is the turn of the page ``mine``; if so, its turn begins."""
        with self._lock:
            now = time.monotonic()
            if self._waiting[0] is not mine or len(self._quick(now)) >= self._at_once:
                return False
            self._waiting.popleft()
            self._since[mine] = now
            self._wake_first()
            return True

    def _until_a_look(self, mine: threading.Event) -> float | None:
        """Seconds until a turn becomes free by itself; None if another page is first in the queue."""
        with self._lock:
            now = time.monotonic()
            if self._waiting[0] is not mine:
                return None
            return min((since + self._patience - now for since in self._quick(now)), default=0.0)

    def _quick(self, now: float) -> list[float]:
        """Return the times at which the turns began that still count."""
        return [since for since in self._since.values() if now - since < self._patience]

    def _wake_first(self) -> None:
        if self._waiting:
            self._waiting[0].set()


# One page at a time, because two pages would wait for each other at every message. If a page waits for the network, or
# computes for long outside Python, the next page begins after a tenth of a second.
PAGES = Turns(1, 0.1)
