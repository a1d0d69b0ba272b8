"""Work that goes on by itself: one job for each thing, whoever asked for it and wherever they have gone since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

Work = Callable[["Job"], None]


class Stopped(RuntimeError):
    """Raised in the work of a job that was told to end."""


@dataclass(eq=False)
class Job:
    """Work under way, or work that failed: then ``error`` says why. ``done`` of ``planned``, 0 until that is known."""

    key: Hashable
    done: float = 0.0
    planned: float = 0.0
    error: Exception | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0

    def stop(self) -> None:
        """End it the next time that it tells how far it is; another may begin at once."""
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
                _forget(self)


_RUNNING: dict[Hashable, Job] = {}
_LOCK = threading.Lock()


def start(key: Hashable, work: Work, expected: type[Exception] = Stopped) -> Job:
    """Begin ``work`` in a thread of its own; the job under way for ``key``, if there is one."""
    with _LOCK:
        found = _RUNNING.get(key)
        if found is None or found.error is not None:
            found = _RUNNING[key] = Job(key)
            threading.Thread(target=found.run, args=(work, expected), name=f"job {key}", daemon=True).start()
        return found


def running(key: Hashable) -> Job | None:
    """The job for ``key`` that is under way or has failed; None when there is none, or it is complete."""
    return _RUNNING.get(key)


def _forget(gone: Job) -> None:
    with _LOCK:
        if _RUNNING.get(gone.key) is gone:
            del _RUNNING[gone.key]
