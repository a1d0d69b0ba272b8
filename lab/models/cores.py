"""Limit the number of simultaneous computations to the number of cores; further computations wait instead of slowing
the running ones down."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")

COUNT = os.cpu_count() or 1
_CORES = threading.BoundedSemaphore(COUNT)
# A separate semaphore for long work, so that a page never waits for long work; the machine also lets the page go first.
_BEHIND = threading.BoundedSemaphore(COUNT)
_held = threading.local()
# Seconds of pause in which a waiting thread wakes up; without a pause, the thread that frees a core takes it again.
_MOMENT = 0.001


@contextmanager
def one_core() -> Iterator[None]:
    """Wait for a free core and hold it for the block. Blocks may nest: a thread never takes a second core."""
    if getattr(_held, "here", False) or getattr(_held, "behind", False):
        yield
        return
    with _CORES:
        _held.here = True
        try:
            yield
        finally:
            _held.here = False


def give_way() -> None:
    """Free the core that this thread holds, and wait for a core again; call this between short parts of long work.

    Waiting threads go first. A thread without a core only waits for a moment.
    """
    with no_core():
        time.sleep(_MOMENT)


def on_every_core(
    work: Callable[[Item], Found], items: Sequence[Item], tell: Callable[[int], None] = lambda done: None
) -> list[Found]:
    """Compute ``work`` for each item on all cores, with the lowest priority, and return the results in order.

    ``tell`` receives, in this thread, the number of items done. An exception that ``tell`` or a part raises ends the
    work after the parts that are running. If ``tell`` waits, the pool finishes the parts that it has and gets no new
    parts. Until all work is done, this thread does not hold a core.
    """

    def part(item: Item) -> Found:
        with _BEHIND:
            _held.behind = True
            step_back()
            return work(item)

    found, under_way, rest = list[Found](), deque[Future[Found]](), iter(items)
    with no_core(), ThreadPoolExecutor(COUNT, thread_name_prefix="on every core") as pool:
        try:
            under_way.extend(pool.submit(part, item) for item in islice(rest, 2 * COUNT))
            while under_way:
                found.append(under_way.popleft().result())
                tell(len(found))
                under_way.extend(pool.submit(part, item) for item in islice(rest, 1))
        finally:
            pool.shutdown(cancel_futures=True)
    return found


@contextmanager
def no_core() -> Iterator[None]:
    """Free the core that this thread holds, if any, for the block."""
    if not getattr(_held, "here", False):
        yield
        return
    _CORES.release()
    _held.here = False
    try:
        yield
    finally:
        _CORES.acquire()
        _held.here = True


def step_back() -> None:
    """Give this thread and all threads that it starts the lowest priority, permanently.

    Only Linux has a separate priority for each thread; on other systems, this function does nothing.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
