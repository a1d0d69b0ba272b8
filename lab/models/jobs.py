"""Work in the background: one job for each key, which lasts as long as somebody waits for it.

Jobs that compute take turns in a :class:`Pool`, so that a server does not begin everything at once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Protocol

Work = Callable[["Job"], None]
# Seconds that a job of a pool continues without a watcher, because a watcher who reloads the page is gone for a moment.
GRACE = 5.0
_LOOK = 1.0  # seconds between two checks for watchers
# The most jobs in a pool, because each holds memory while it waits: on the server, of an address, of a browser.
MOST = (120, 40, 8)


LOG = logging.getLogger("lab.jobs")


class Failed(RuntimeError):
    """The error of work that ended in an exception which nobody expected; the log has the exception."""

    def __init__(self) -> None:
        super().__init__(
            "This run has failed on the server, whose log says why. Start it again. If it fails again, tell the person "
            "who runs the server."
        )


class TooMany(RuntimeError):
    """Raised instead of beginning a job, if the pool is full or those who want the job have too many jobs there."""

    def __init__(self) -> None:
        server, address, browser = MOST
        super().__init__(
            f"This run was not started. At most {browser} runs of one browser, {address} of one address and {server} "
            "in all may wait on this server. Stop one of your runs, or wait until one is over."
        )


class Stopped(RuntimeError):
    """Raised inside the work of a job that should end."""


class Watcher(Protocol):
    """Somebody who waits for a job; a call returns whether they are still there.

    ``address`` and ``browser`` say whose turn the job takes. Two watchers of one person are equal.
    """

    @property
    def address(self) -> Hashable: ...

    @property
    def browser(self) -> Hashable: ...

    def __call__(self) -> bool: ...


@dataclass(eq=False)
class Job:
    """Running work, or failed work with its ``error``. ``planned``, the amount of work, is 0 at first.

    A job of a ``pool`` ends when nobody is there who waits for it. ``brief`` work takes seconds. ``waiting`` is true as
    long as the pool has no place for the job.
    """

    key: Hashable
    work: Work
    pool: Pool | None = None
    brief: bool = False
    done: float = 0.0
    planned: float = 0.0
    error: Exception | None = None
    waiting: bool = False
    _watchers: set[Watcher] = field(default_factory=set)
    _alone_since: float | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """True if the work has come to its end, in whatever way."""
        return self._over.is_set()

    @property
    def share(self) -> float:
        """The share done, 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0

    @property
    def is_watched(self) -> bool:
        """True if a watcher is there at this moment."""
        return any(there() for there in tuple(self._watchers))

    @property
    def for_whom(self) -> tuple[frozenset[Hashable], ...]:
        """Who waits for the job, ever more exactly: everybody, the addresses, the browsers."""
        there = tuple(self._watchers)
        return (
            frozenset({"everybody"}),
            frozenset(each.address for each in there),
            frozenset((each.address, each.browser) for each in there),
        )

    def watch(self, watcher: Watcher) -> bool:
        """Add a watcher: the job also continues as long as ``watcher`` is there. False if it should end already."""
        with _LOCK:
            if self._stopped.is_set():
                return False
            self._watchers.add(watcher)
            return True

    def unwatch(self, watcher: Watcher) -> None:
        """Take a watcher away, who does not want the result; the job ends if no other one is there.

        For others, the job goes on.
        """
        with _LOCK:
            self._watchers.discard(watcher)
            if not self.is_watched:
                self.stop()

    def stop(self) -> None:
        """End the job at its next call of :meth:`tell`; another job with the same key may begin at once."""
        with _LOCK:
            self._stopped.set()
            if _RUNNING.get(self.key) is self:
                del _RUNNING[self.key]
            _LOCK.notify_all()

    def tell(self, done: float, planned: float) -> None:
        """Record the progress; called by the work. Raises :class:`Stopped` if the job should end."""
        with _LOCK:
            self._end_if_left()
            if self._stopped.is_set():
                raise Stopped
            self.done, self.planned = done, planned

    def _end_if_left(self) -> None:
        """End a job of a pool if two checks, :data:`GRACE` seconds apart, and all between them found no watcher."""
        if self.pool is None or self.is_watched:
            self._alone_since = None
            return
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since >= GRACE:
            self.stop()

    def _wait_for_a_place(self) -> None:
        with _LOCK:
            self.tell(0.0, 0.0)
            while self.waiting:
                _LOCK.wait(_LOOK)
                self.tell(0.0, 0.0)

    def run(self, expected: type[Exception]) -> None:
        """Do the work in this thread. An exception of the type ``expected`` is kept in ``error``.

        For any other exception, also one that ends a program or comes from a library in Rust, ``error`` is
        :class:`Failed`, and the log has the exception with the name of the job.
        """
        try:
            self._wait_for_a_place()
            self.work(self)
        except Stopped:
            pass
        except expected as error:
            self.error = error
        except BaseException:  # the learner and the operator hear of any failure
            name = self.key[0] if isinstance(self.key, tuple) else self.key
            LOG.exception("The long run %r has failed.", name)
            self.error = Failed()
        finally:
            if self.pool is not None:
                self.pool.leave(self)
            if self.error is None:
                self.stop()
            self._over.set()


class Pool:
    """The places of jobs that compute: ``count`` for any job, and one more that is kept for brief jobs.

    Other jobs wait in one queue, and visitors take turns. A free place goes to the job whose address and whose browser
    hold the fewest places; among equals, to the first in the queue. When a job ends, all jobs of its address go to the
    end of the queue, those of its browser last. :data:`MOST` bounds the jobs.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: list[Job] = []
        self._waiting: list[Job] = []

    def enter(self, job: Job) -> None:
        """Give a job a place, or let it wait for one. Raises :class:`TooMany` if the job may not wait."""
        with _LOCK:
            there = _shared(job, [*self._held, *self._waiting])
            if any(count >= most for count, most in zip(there, MOST, strict=True)):
                raise TooMany
            job.waiting = True
            self._waiting.append(job)
            self._fill()

    def leave(self, job: Job) -> None:
        """Take the place of a job back, or its right to wait for one."""
        with _LOCK:
            if job.waiting:
                self._waiting.remove(job)
            else:
                self._held.remove(job)
                self._waiting.sort(key=lambda other: _shared(other, [job]))
            self._fill()

    def _fill(self) -> None:
        while may := [job for job in self._waiting if self._has_place_for(job)]:
            first = min(may, key=lambda job: _shared(job, self._held))
            self._waiting.remove(first)
            self._held.append(first)
            first.waiting = False
        _LOCK.notify_all()

    def _has_place_for(self, job: Job) -> bool:
        long = sum(not each.brief for each in self._held)
        return len(self._held) <= self._count and (job.brief or long < self._count)


def _shared(job: Job, others: list[Job]) -> list[int]:
    """Count the ``others`` that somebody waits for who waits for ``job``, too: anybody, at an address, in a browser."""
    return [
        sum(not whom.isdisjoint(each.for_whom[level]) for each in others) for level, whom in enumerate(job.for_whom)
    ]


_RUNNING: dict[Hashable, Job] = {}
# One lock for the jobs and the pools: nobody joins a job while it stops, or gets a place that another one gets, too.
_LOCK = threading.Condition()


def start(
    key: Hashable,
    work: Work,
    expected: type[Exception] = Stopped,
    watcher: Watcher | None = None,
    *,
    pool: Pool | None = None,
    brief: bool = False,
) -> Job:
    """Begin ``work`` in a new thread; if a job for ``key`` is already running, return that job.

    In a ``pool``, the job waits for a place, and it continues only while a watcher is there.

    Raises
    ------
    TooMany
        If the pool takes no more jobs of this watcher.
    """
    with _LOCK:
        found = _RUNNING.get(key)
        if found is None or found.error is not None:
            found = Job(key, work, pool, brief, _watchers=set() if watcher is None else {watcher})
            if pool is not None:
                pool.enter(found)
            _RUNNING[key] = found
            threading.Thread(target=found.run, args=(expected,), name=f"job {key}", daemon=True).start()
        elif watcher is not None:
            found._watchers.add(watcher)
        return found


def running(key: Hashable) -> Job | None:
    """Return the job for ``key`` that is running or failed; None if there is none, or if it is complete."""
    return _RUNNING.get(key)
