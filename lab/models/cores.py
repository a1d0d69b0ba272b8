"""Limit the number of simultaneous computations to the number of cores; further computations wait instead of slowing
the running ones down.

There are two queues. A page begins in the first; once it has computed for :data:`LONG` seconds, it goes on in the
second, beside the work in the background: so who asks for little never waits behind those who ask for much.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")

COUNT = os.cpu_count() or 1
_FOR_PAGES = threading.BoundedSemaphore(COUNT)
# A separate semaphore for long work, so that a page never waits for long work; the machine also lets the page go first.
_FOR_LONG_WORK = threading.BoundedSemaphore(COUNT)
# Seconds of pause in which a waiting thread wakes up; without a pause, the thread that frees a core takes it again.
_MOMENT = 0.001
# Seconds of computing after which a page goes on in the second queue, and after which :func:`breathe` lets others in.
LONG, _BREATH = 0.1, 0.03
# Seconds after which a thread computes without a core: whatever the others wait for, nobody waits for ever.
_PATIENCE = 10.0


class _Here(threading.local):
    """What this thread holds: a core since a moment, if any, and the seconds that it has computed so far."""

    holds = False
    core: threading.BoundedSemaphore | None = None
    since = 0.0
    spent = 0.0
    behind = False


_here = _Here()


@contextmanager
def one_core() -> Iterator[None]:
    """Wait for a free core and hold it for the block. Blocks may nest: a thread never takes a second core."""
    if _here.holds:
        yield
        return
    _take()
    try:
        yield
    finally:
        _free()


@contextmanager
def no_core() -> Iterator[None]:
    """Free the core that this thread holds, if any, for the block."""
    if not _here.holds:
        yield
        return
    _free()
    try:
        yield
    finally:
        _take()


@contextmanager
def alone(lock: AbstractContextManager[object]) -> Iterator[None]:
    """Hold ``lock`` and a core for the block; wait for the lock without a core, which its owner may be waiting for."""
    with no_core():
        lock.__enter__()
    try:
        with one_core():
            yield
    finally:
        lock.__exit__(None, None, None)


def _take() -> None:
    queue = _FOR_LONG_WORK if _here.behind or _here.spent > LONG else _FOR_PAGES
    _here.core = queue if queue.acquire(timeout=_PATIENCE) else None
    _here.holds, _here.since = True, time.perf_counter()


def _free() -> None:
    core, _here.core, _here.holds = _here.core, None, False
    _here.spent += time.perf_counter() - _here.since
    if core is not None:
        core.release()


def begin_in_front() -> None:
    """Forget how long this thread has computed, because it begins to work for another page."""
    _here.spent = 0.0


def give_way() -> None:
    """Free the core that this thread holds, and wait for a core again; call this between short parts of long work.

    Waiting threads go first. A thread without a core only waits for a moment.
    """
    with no_core():
        time.sleep(_MOMENT)


def breathe() -> None:
    """Give way if this thread has held its core for a while; call this wherever long work can pause."""
    if _here.holds and time.perf_counter() - _here.since > _BREATH:
        give_way()


def on_every_core(
    work: Callable[[Item], Found], items: Sequence[Item], tell: Callable[[int], None] = lambda done: None
) -> list[Found]:
    """Compute ``work`` for each item on all cores, with the lowest priority, and return the results in order.

    ``tell`` receives, in this thread, the number of items done. An exception that ``tell`` or a part raises ends the
    work after the parts that are running. If ``tell`` waits, the pool finishes the parts that it has and gets no new
    parts. Until all work is done, this thread does not hold a core.
    """

    def part(item: Item) -> Found:
        step_back()
        with one_core():
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


def step_back() -> None:
    """Give this thread and all threads that it starts the lowest priority, permanently, and the second queue.

    Only Linux has a separate priority for each thread; on other systems, only the queue is another.
    """
    _here.behind = True
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
