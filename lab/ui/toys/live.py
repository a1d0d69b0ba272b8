"""Toys that learn while somebody watches: one toy per core at a time, and each is trained only once for all
sessions."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from lab.toy.training import Plan, Snapshot, TrainingRun

Kept = TypeVar("Kept")
# One place per core: further toys wait, and between two stages a toy gives its turn to a waiting toy.
_LESSONS = threading.BoundedSemaphore(os.cpu_count() or 1)
_POLL = 0.2  # seconds
_FINISHED_KEPT = 24
_finished: OrderedDict[Plan, TrainingRun] = OrderedDict()
# Trainings that somebody left before their end, each with the iterator that makes its next snapshot.
_BEGUN_KEPT = 8
_begun: OrderedDict[Plan, tuple[TrainingRun, Iterator[Snapshot]]] = OrderedDict()
_lock = threading.Lock()


def finished_run(plan: Plan) -> TrainingRun | None:
    """Return the whole training of this plan, if the server has done it for any visit and still keeps it.

    Returns None otherwise.
    """
    with _lock:
        return _finished.get(plan)


def train_toy(plan: Plan) -> Generator[TrainingRun | None]:
    """Train a toy: yields the run after every stage, and None while it waits for other trainings to finish.

    A plan that was trained to its end is not trained again: only that run is yielded. A training that was left before
    its end continues where it stopped. A caller that stops early must close the iterator (``contextlib.closing``), or
    the place stays taken.
    """
    import torch

    torch.set_num_threads(1)
    while not _LESSONS.acquire(timeout=_POLL):
        yield None
    try:
        done = finished_run(plan)
        if done is not None:
            yield done
            return
        yield from _stages(plan)
    finally:
        _LESSONS.release()


def _stages(plan: Plan) -> Generator[TrainingRun]:
    """Yield the run after every stage, from the stage where somebody left it, or from the beginning."""
    from lab.models.cores import one_core
    from lab.toy.training import begin, train

    with _lock:
        run, snapshots = _begun.pop(plan, None) or (None, train(plan))
    try:
        while run is None or not run.latest.finished:
            with one_core():
                snapshot = next(snapshots)
            run = begin(snapshot) if run is None else run.then(snapshot)
            if snapshot.finished:
                _keep(_finished, plan, run, _FINISHED_KEPT)
            yield run
    except GeneratorExit:
        if run is not None and not run.latest.finished:
            _keep(_begun, plan, (run, snapshots), _BEGUN_KEPT)
        raise


def _keep(where: OrderedDict[Plan, Kept], plan: Plan, what: Kept, most: int) -> None:
    """Keep ``what`` for this plan; if more than ``most`` are kept, drop the oldest."""
    with _lock:
        where[plan] = what
        while len(where) > most:
            where.popitem(last=False)
