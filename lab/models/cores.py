"""As many computations at once as there are cores; the others wait instead of slowing each other down."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_CORES = threading.BoundedSemaphore(os.cpu_count() or 1)
_held = threading.local()
# Seconds that a thread which waits needs to wake up; without them, whoever lets go takes the core again.
_MOMENT = 0.001


@contextmanager
def one_core() -> Iterator[None]:
    """Hold a core for the block, waiting until one is free. Blocks may nest: a thread never takes a second one."""
    if getattr(_held, "here", False):
        yield
        return
    with _CORES:
        _held.here = True
        try:
            yield
        finally:
            _held.here = False


def give_way() -> None:
    """Let go of the core that this thread holds, and wait for one again: for long work, between two short parts of it.

    Whoever waits goes first. Does nothing in a thread that holds none.
    """
    if not getattr(_held, "here", False):
        return
    _CORES.release()
    time.sleep(_MOMENT)
    _CORES.acquire()
