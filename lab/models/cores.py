"""As many computations at once as there are cores; the others wait instead of slowing each other down."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CORES = threading.BoundedSemaphore(os.cpu_count() or 1)
_held = threading.local()


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
