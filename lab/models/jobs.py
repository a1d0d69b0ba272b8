"""Work in the background: one job for each key, which lasts as long as somebody waits for it.

Jobs that compute for long share :class:`Places`, so that a server does not begin everything at once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

Work = Callable[["Job"], None]
# Seconds that a job continues without a watcher, because a watcher who reloads the page is gone for a moment.
GRACE = 3.0
# The most jobs at rest, and the most seconds of rest; jobs at rest keep their models and results in memory.
RESTING, RESTS = 3, 1800.0
_LOOK = 1.0  # seconds between two checks for watchers
# Seconds of computing after which a job is long: from then on, it gives its place to jobs that are not.
LONG = 8.0
# The most jobs that have begun and are not over, because each holds memory: on the server, of an address, of a browser.
MOST_BEGUN = (12, 8, 4)


LOG = logging.getLogger("lab.jobs")


class Failed(RuntimeError):
    """The error of work that ended in an exception which nobody expected; the log has the exception."""

    def __init__(self) -> None:
        super().__init__(
            "This run has failed on the server, whose log says why. Start it again. If it fails again, tell the person "
            "who runs the server."
        )


class Stopped(RuntimeError):
    """Raised inside the work of a job that should end."""


class Watcher(Protocol):
    """Somebody who waits for a job; a call returns whether they are still there.

    ``address`` and ``browser`` say whose share of the server the job takes. Two watchers of one person are equal.
    """

    @property
    def address(self) -> Hashable: ...

    @property
    def browser(self) -> Hashable: ...

    def __call__(self) -> bool: ...


@dataclass(eq=False)
class Job:
    """Running work, or failed work with its ``error``. ``planned``, the amount of work, is 0 at first.

    A job that had watchers rests when all its watchers have gone: then ``resting`` is true. ``waiting`` is true if the
    job has no place because other jobs go first. ``spent`` is how many seconds it had a place until ``since``.
    """

    key: Hashable
    work: Work
    done: float = 0.0
    planned: float = 0.0
    error: Exception | None = None
    resting: bool = False
    waiting: bool = False
    spent: float = 0.0
    since: float = 0.0
    _watchers: set[Watcher] = field(default_factory=set)
    _seen: float = field(default_factory=time.monotonic)
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
    def forsaken(self) -> bool:
        """True if all watchers have been gone for :data:`GRACE` seconds. False if nobody ever watched the job."""
        now = time.monotonic()
        if not self._watchers or self.is_watched:
            self._seen = now
        return now - self._seen >= GRACE

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
        """Take a watcher away, who does not want the result; the job ends if this was the only one.

        For others, the job goes on.
        """
        with _LOCK:
            self._watchers.discard(watcher)
            if not self._watchers:
                self._stop()

    def rest(self) -> None:
        """Wait until somebody watches the job again; called by the work. Raises :class:`Stopped` if the job ends.

        The job ends if nothing is done yet, if nobody comes within :data:`RESTS` seconds, or if :data:`RESTING`
        other jobs have come to rest later.
        """
        until = time.monotonic() + RESTS if self.done else 0.0
        with _LOCK:
            self.resting = True
            _RESTING.append(self)
            too_many = _RESTING[:-RESTING]
        for oldest in too_many:
            oldest.stop()
        try:
            while self.forsaken:
                if time.monotonic() >= until:
                    self.stop()
                if self._stopped.wait(_LOOK):
                    raise Stopped
        finally:
            with _LOCK:
                self.resting = False
                _RESTING.remove(self)

    def stop(self) -> None:
        """End the job at its next call of :meth:`tell`; another job with the same key may begin at once."""
        with _LOCK:
            self._stop()

    def _stop(self) -> None:
        """End the job; the caller must hold the lock."""
        self._stopped.set()
        if _RUNNING.get(self.key) is self:
            del _RUNNING[self.key]

    def tell(self, done: float, planned: float) -> None:
        """Record the progress; called by the work. Raises :class:`Stopped` if the job should end."""
        if self._stopped.is_set():
            raise Stopped
        self.done, self.planned = done, planned

    def run(self, expected: type[Exception]) -> None:
        """Do the work in this thread. An exception of the type ``expected`` is kept in ``error``.

        For any other exception, also one that ends a program or comes from a library in Rust, ``error`` is
        :class:`Failed`, and the log has the exception with the name of the job.
        """
        try:
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
            if self.error is None:
                self.stop()
            self._over.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the work, at most for so many seconds."""
        self._over.wait(seconds)


class Places:
    """The right of ``count`` jobs to compute at the same time; other jobs wait.

    A free place goes to the job whose address and whose browser hold the fewest places for other jobs; among equals to
    a job that is not long yet, and then to the job that has waited longest. A job gives its place to a waiting job that
    comes before it by this order. So a visitor cannot take all places by many visits, and work of seconds does not wait
    behind work of minutes. :data:`MOST_BEGUN` bounds the jobs under way.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._changed = threading.Condition()
        self._held: list[Job] = []
        self._waiting: list[Job] = []

    @contextmanager
    def place(self, job: Job) -> Iterator[None]:
        """Wait for a place and hold it for the block; called by the work. Raises :class:`Stopped` if the job ends.

        A job that nobody waits for also rests while it waits for a place.
        """
        self._take(job)
        try:
            yield
        finally:
            self._leave(job)

    def must_pause(self, job: Job) -> bool:
        """Return whether a job should give its place away: nobody waits for it, or another job comes before it."""
        if job.forsaken:
            return True
        with self._changed:
            self._count_time(job)
            first = self._first(besides=job)
            return first is not None and self._order(first, job) < self._order(job, job)

    def pause(self, job: Job) -> None:
        """Give the place of a job away, rest if nobody waits for the job, and take a place again."""
        self._leave(job)
        if job.forsaken:
            job.rest()
        self._take(job)

    def _take(self, job: Job) -> None:
        with self._changed:
            self._waiting.append(job)
        try:
            while not self._begins(job):
                job.tell(job.done, job.planned)
                if job.forsaken:
                    job.rest()
        finally:
            with self._changed:
                self._waiting.remove(job)
                job.waiting = False

    def _begins(self, job: Job) -> bool:
        """Return whether the job has got a place; if not, wait for a moment."""
        with self._changed:
            if len(self._held) < self._count and self._first() is job:
                self._held.append(job)
                job.since = time.monotonic()
                return True
            job.waiting = True
            self._changed.wait(_LOOK)
            return False

    def _leave(self, job: Job) -> None:
        with self._changed:
            if job in self._held:
                self._count_time(job)
                self._held.remove(job)
                self._changed.notify_all()

    @staticmethod
    def _count_time(job: Job) -> None:
        now = time.monotonic()
        job.spent, job.since = job.spent + now - job.since, now

    def _first(self, besides: Job | None = None) -> Job | None:
        """Return the waiting job that gets the next place; None if no job may have one.

        With ``besides``, that job is about to give its place away. The caller must hold the lock.
        """
        may = (each for each in self._waiting if not each.resting and (each.spent or self._may_begin(each)))
        return min(may, key=lambda job: self._order(job, besides), default=None)

    def _order(self, job: Job, besides: Job | None) -> tuple[list[int], bool]:
        """Return the rank of a job: the smallest comes first.

        The rank counts the places that the visitors of ``job`` hold for other jobs, except the place of ``besides``.
        Among equal counts, a job that is not long comes first.
        """
        others = [each for each in self._held if each is not job and each is not besides]
        return _shared(job, others), job.spent > LONG

    def _may_begin(self, job: Job) -> bool:
        """Return whether those who wait for the job have few enough jobs under way."""
        begun = [*self._held, *(each for each in self._waiting if each.spent)]
        return all(count < most for count, most in zip(_shared(job, begun), MOST_BEGUN, strict=True))


def _shared(job: Job, others: list[Job]) -> list[int]:
    """Count the ``others`` that somebody waits for who waits for ``job``, too: anybody, at an address, in a browser."""
    return [
        sum(not whom.isdisjoint(each.for_whom[level]) for each in others) for level, whom in enumerate(job.for_whom)
    ]


_RUNNING: dict[Hashable, Job] = {}
_RESTING: list[Job] = []  # the job that has rested longest comes first
_LOCK = threading.Lock()


def start(key: Hashable, work: Work, expected: type[Exception] = Stopped, watcher: Watcher | None = None) -> Job:
    """Begin ``work`` in a new thread; if a job for ``key`` is already running or at rest, return that job.

    With a ``watcher``, the job continues only while somebody is there.
    """
    with _LOCK:
        found = _RUNNING.get(key)
        begins = found is None or found.error is not None
        if found is None or begins:
            found = _RUNNING[key] = Job(key, work)
        if watcher is not None:
            found._watchers.add(watcher)
        if begins:
            threading.Thread(target=found.run, args=(expected,), name=f"job {key}", daemon=True).start()
        return found


def running(key: Hashable) -> Job | None:
    """Return the job for ``key`` that is running, at rest or failed; None if there is none, or if it is complete."""
    return _RUNNING.get(key)
