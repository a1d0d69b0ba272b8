"""Toys that learn while somebody watches: so many at once as there are cores, each training once for all sessions."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.toy.training import Plan, Run

# So many toys learn at once; between two stages each gives its turn to whoever waits for one.
_LESSONS = threading.BoundedSemaphore(os.cpu_count() or 1)
_POLL = 0.2  # seconds
_FINISHED_KEPT = 24
_finished: OrderedDict[Plan, Run] = OrderedDict()
_finished_lock = threading.Lock()


def finished_run(plan: Plan) -> Run | None:
    """The whole training of this plan, if the server has done it for anybody and not forgotten it."""
    with _finished_lock:
        return _finished.get(plan)


def train_toy(plan: Plan) -> Generator[Run | None]:
    """Teach a toy: yields the run after every stage, and None while it waits for others to finish.

    A plan that was trained to its end before is not trained again: the only thing yielded is that
    run. Whoever stops asking must close the iterator (``contextlib.closing``), or the place stays taken.
    """
    import torch

    from lab.models.cores import one_core
    from lab.toy.training import begin, train

    torch.set_num_threads(1)
    while not _LESSONS.acquire(timeout=_POLL):
        yield None
    try:
        done = finished_run(plan)
        if done is not None:
            yield done
            return
        run, snapshots = None, train(plan)
        while True:
            with one_core():
                snapshot = next(snapshots, None)
            if snapshot is None:
                return
            run = begin(snapshot) if run is None else run.then(snapshot)
            if snapshot.finished:
                _keep(run)
            yield run
    finally:
        _LESSONS.release()


def _keep(run: Run) -> None:
    with _finished_lock:
        _finished[run.plan] = run
        while len(_finished) > _FINISHED_KEPT:
            _finished.popitem(last=False)
