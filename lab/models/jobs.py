"""Work that goes on by itself: one job for each thing, whoever asked for it, as long as somebody waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

Work = Callable[["Job"], None]
# Says whether somebody who waits for a job is still there. Two of the same person are equal.
Watcher = Callable[[], bool]
# Seconds that a job goes on alone: who reloads a page is gone for a moment.
GRACE = 3.0
# Jobs that rest keep their models and all that they have found in memory: so many of them, for so many seconds.
RESTING, RESTS = 3, 1800.0
_LOOK = 1.0  # seconds between two looks at who is there


class Stopped(RuntimeError):
    """Raised in the work of a job that was told to end."""


@dataclass(eq=False)
class Job:
    """Work under way, or work that failed: then ``error`` says why. ``done`` of ``planned``, 0 until that is known.

    A job that somebody watches rests when all of them have gone. ``resting`` says so; ``waiting`` says that it has not
    begun because others go first.
    """

    key: Hashable
    done: float = 0.0
    planned: float = 0.0
    error: Exception | None = None
    resting: bool = False
    waiting: bool = False
    _watchers: set[Watcher] = field(default_factory=set)
    _seen: float = field(default_factory=time.monotonic)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0

    @property
    def forsaken(self) -> bool:
        """Whether everybody who watched it has been gone for :data:`GRACE` seconds. False if nobody ever did."""
        watchers, now = tuple(self._watchers), time.monotonic()
        if not watchers or any(there() for there in watchers):
            self._seen = now
        return now - self._seen >= GRACE

    def watch(self, watcher: Watcher) -> None:
        """Go on as long as ``watcher`` is there, too."""
        self._watchers.add(watcher)

    def rest(self) -> None:
        """For the work: wait until somebody watches again. Raises :class:`Stopped` if it ends instead.

        It ends when nothing is done yet, when nobody comes within :data:`RESTS` seconds, and when :data:`RESTING`
        others have come to rest after it.
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
        """End it the next time that it tells how far it is; another may begin at once."""
        with _LOCK:
            self._stopped.set()
            _forget(self)

    def tell(self, done: float, planned: float) -> None:
        """For the work: how far it is. Raises :class:`Stopped` where it should end."""
        if self._stopped.is_set():
            raise Stopped
        self.done, self.planned = done, planned

    def run(self, work: Work, expected: type[Exception]) -> None:
        """Do it in this thread. What is ``expected`` to go wrong is kept; anything else is raised."""
        try:
            work(self)
        except Stopped:
            pass
        except expected as error:
            self.error = error
        finally:
            if self.error is None:
                with _LOCK:
                    _forget(self)


_RUNNING: dict[Hashable, Job] = {}
_RESTING: list[Job] = []  # the one that has rested longest comes first
_LOCK = threading.Lock()


def start(key: Hashable, work: Work, expected: type[Exception] = Stopped, watcher: Watcher | None = None) -> Job:
    """Begin ``work`` in a thread of its own; the job under way or at rest for ``key``, if there is one.

    With a ``watcher`` it goes on only while somebody is there.
    """
    with _LOCK:
        found = _RUNNING.get(key)
        begins = found is None or found.error is not None
        if found is None or begins:
            found = _RUNNING[key] = Job(key)
        if watcher is not None:
            found.watch(watcher)
        if begins:
            threading.Thread(target=found.run, args=(work, expected), name=f"job {key}", daemon=True).start()
        return found


def running(key: Hashable) -> Job | None:
    """The job for ``key`` that is under way, at rest or failed; None when there is none, or it is complete."""
    return _RUNNING.get(key)


def _forget(gone: Job) -> None:
    """The lock is held."""
    if _RUNNING.get(gone.key) is gone:
        del _RUNNING[gone.key]
