"""The operator's log of rooms: one line per event, without codes, names or anything that people typed."""

from __future__ import annotations

import logging
import time

LOG = logging.getLogger("lab.rooms")
_AGAIN = 60.0  # seconds after which a failure that continues is logged again
_told: dict[str, float] = {}


def start() -> None:
    """Write the log to the error stream, with the time; only the first call in a process has an effect."""
    if not LOG.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s rooms: %(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


def say_once(message: str) -> None:
    """Log a warning, unless the same warning was logged within the last minute (a class asks every second)."""
    now = time.monotonic()
    if now - _told.get(message, -_AGAIN) >= _AGAIN:
        _told[message] = now
        LOG.warning(message)


def forget() -> None:
    """Log the next failure at once, because the failing part works again."""
    _told.clear()
