"""The operator's log of rooms: a line for each thing that happens, without a code, a name or what anybody typed."""

from __future__ import annotations

import logging
import time

LOG = logging.getLogger("lab.rooms")
_AGAIN = 60.0  # seconds after which a failure that goes on is told again
_told: dict[str, float] = {}


def start() -> None:
    """Write to the error stream, with the time; once for a process."""
    if not LOG.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s rooms: %(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


def say_once(message: str) -> None:
    """Log a warning, unless the same one was logged within the last minute: a class asks every second."""
    now = time.monotonic()
    if now - _told.get(message, -_AGAIN) >= _AGAIN:
        _told[message] = now
        LOG.warning(message)


def forget() -> None:
    """Tell the next failure at once: what was broken works again."""
    _told.clear()
