"""Work in the background: one job for each key, which lasts as long as somebody waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

Work = Callable[["Job"], None]
# A function that returns whether a person waiting for a job is still there. Two watchers of one person are equal.
Watcher = Callable[[], bool]
# Seconds that a job continues without a watcher, because a watcher who reloads the page is gone for a moment.
GRACE = 3.0
# The most jobs at rest, and the most seconds of rest; jobs at rest keep their models and results in memory.
RESTING, RESTS = 3, 1800.0
_LOOK = 1.0  # seconds between two checks for watchers


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


@dataclass(eq=False)
class Job:
    """Running work, or failed work with its ``error``. ``planned``, the amount of work, is 0 at first.

    A job that had watchers rests when all its watchers have gone: then ``resting`` is true. ``waiting`` is true if the
    job has not begun because other jobs go first.
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
        """The share done, 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0

    @property
    def forsaken(self) -> bool:
        """True if all watchers have been gone for :data:`GRACE` seconds. False if nobody ever watched the job."""
        watchers, now = tuple(self._watchers), time.monotonic()
        if not watchers or any(there() for there in watchers):
            self._seen = now
        return now - self._seen >= GRACE

    def watch(self, watcher: Watcher) -> None:
        """Add a watcher: the job also continues as long as ``watcher`` is there."""
        self._watchers.add(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Take a watcher away, who does not want the result; the job ends if this was the only one."""
        self._watchers.discard(watcher)
        if not self._watchers:
            self.stop()

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
            self._stopped.set()
            _forget(self)

    def tell(self, done: float, planned: float) -> None:
        """Record the progress; called by the work. Raises :class:`Stopped` if the job should end."""
        if self._stopped.is_set():
            raise Stopped
        self.done, self.planned = done, planned

    def run(self, work: Work, expected: type[Exception]) -> None:
        """Do the work in this thread. An exception of the type ``expected`` is kept in ``error``.

        For any other exception, ``error`` is :class:`Failed`, and the log has the exception with the name of the job.
        """
        try:
            work(self)
        except Stopped:
            pass
        except expected as error:
            self.error = error
        except Exception:  # whatever it is: the learner and the operator are told
            name = self.key[0] if isinstance(self.key, tuple) else self.key
            LOG.exception("The long run %r has failed.", name)
            self.error = Failed()
        finally:
            if self.error is None:
                with _LOCK:
                    _forget(self)


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
            found = _RUNNING[key] = Job(key)
        if watcher is not None:
            found.watch(watcher)
        if begins:
            threading.Thread(target=found.run, args=(work, expected), name=f"job {key}", daemon=True).start()
        return found


def running(key: Hashable) -> Job | None:
    """Return the job for ``key`` that is running, at rest or failed; None if there is none, or if it is complete."""
    return _RUNNING.get(key)


def _forget(gone: Job) -> None:
    """Remove a job from the running jobs; the caller must hold the lock."""
    if _RUNNING.get(gone.key) is gone:
        del _RUNNING[gone.key]
