"""Downloads that go on by themselves: one a model, whoever asked for it and wherever they have gone since."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from lab.models import hub
from lab.models.catalogue import ModelCard, ModelUnavailable

_RUNNING: dict[str, Running] = {}
_LOCK = threading.Lock()


class _Stopped(ModelUnavailable):
    pass


@dataclass(eq=False)
class Running:
    """A download under way, or one that failed: then ``error`` says why.

    ``megabytes`` are those that have arrived, ``planned`` what the Hub has; 0 until it has said so.
    """

    entry: ModelCard
    megabytes: float = 0.0
    planned: int = 0
    error: ModelUnavailable | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def share(self) -> float:
        """How much of it has arrived, 0 to 1."""
        return min(1.0, self.megabytes / self.planned) if self.planned else 0.0

    def stop(self) -> None:
        """End it as soon as the next bytes arrive; what is here stays, and is not fetched again."""
        self._stop.set()
        _forget(self)

    def _seen(self, megabytes: float, planned: int) -> None:
        if self._stop.is_set():
            raise _Stopped(f"The download of {self.entry.title} was stopped.")
        self.megabytes, self.planned = megabytes, planned

    def _fetch(self) -> None:
        try:
            hub.download(self.entry, self._seen)
        except _Stopped:
            pass
        except ModelUnavailable as error:
            self.error = error
        finally:
            if self.error is None:
                _forget(self)


def start(entry: ModelCard) -> Running:
    """Begin the download of ``entry``, in a thread of its own; the one under way, if there is one."""
    with _LOCK:
        found = _RUNNING.get(entry.id)
        if found is None or found.error is not None:
            found = _RUNNING[entry.id] = Running(entry)
            threading.Thread(target=found._fetch, name=f"download {entry.id}", daemon=True).start()
        return found


def running(model_id: str) -> Running | None:
    """The download of a model that is under way or has failed; None when there is none, or it is complete."""
    return _RUNNING.get(model_id)


def _forget(gone: Running) -> None:
    with _LOCK:
        if _RUNNING.get(gone.entry.id) is gone:
            del _RUNNING[gone.entry.id]
