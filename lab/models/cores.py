"""As many computations at once as there are cores; the others wait instead of slowing each other down."""

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
# Long work has its own: a page never waits for a part of it, and the machine lets the page go first.
_BEHIND = threading.BoundedSemaphore(COUNT)
_held = threading.local()
# Seconds that a thread which waits needs to wake up; without them, whoever lets go takes the core again.
_MOMENT = 0.001


@contextmanager
def one_core() -> Iterator[None]:
    """Hold a core for the block, waiting until one is free. Blocks may nest: a thread never takes a second one."""
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
    """Let go of the core that this thread holds, and wait for one again: for long work, between two short parts of it.

    Whoever waits goes first. A thread that holds none only waits for a moment.
    """
    with no_core():
        time.sleep(_MOMENT)


def on_every_core(
    work: Callable[[Item], Found], items: Sequence[Item], tell: Callable[[int], None] = lambda done: None
) -> list[Found]:
    """``work`` of each item, in their order, on all cores, behind whatever else this machine does.

    ``tell`` hears in this thread how many items are done. What it raises ends the work after the parts under way, as
    does what a part raises; while it waits, no more than the parts under way are done. The core that this thread holds
    is let go of meanwhile.
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
    """Let go of the core that this thread holds, if it holds one, for the block."""
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
    """Let every other thread of this machine go before this one, and before those that it starts, for good.

    Only Linux gives each thread a priority of its own; elsewhere nothing changes.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
