"""Toys that learn while somebody watches: each is trained only once for all sessions, in the background."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.models import jobs
from lab.models.cores import one_core
from lab.models.jobs import Job
from lab.ui.long_work import POOL, this_visit

if TYPE_CHECKING:
    from lab.toy.training import Plan, TrainingRun

_POLL = 0.2  # seconds
_FINISHED_KEPT = 24
_finished: OrderedDict[Plan, TrainingRun] = OrderedDict()
_lock = threading.Lock()


@dataclass(eq=False)
class _Training:
    """A training under way, which makes its next stage when a page asks for it: so each stage is drawn."""

    plan: Plan
    run: TrainingRun | None = None
    _asked: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def after(self, seen: TrainingRun | None) -> TrainingRun | None:
        """Return the run with more stages than those ``seen``; None if there is none within a moment."""
        with self._changed:
            if self.run is seen:
                self._asked = True
                self._changed.notify_all()
                self._changed.wait(_POLL)
            return None if self.run is seen else self.run

    def __call__(self, job: Job) -> None:
        """Train to the end, or until nobody watches."""
        import torch

        from lab.toy.training import begin, train

        torch.set_num_threads(1)
        run, snapshots = None, train(self.plan)
        while run is None or not run.latest.finished:
            self._wait_for_a_page(job)
            with one_core():
                snapshot = next(snapshots)
            run = begin(snapshot) if run is None else run.then(snapshot)
            if snapshot.finished:
                _keep(run)
            self._show(run)

    def _wait_for_a_page(self, job: Job) -> None:
        """Wait until a page asks for the next stage. Raises Stopped if the job ends."""
        while True:
            job.tell(job.done, self.plan.steps)
            with self._changed:
                if self._asked:
                    return
                self._changed.wait(_POLL)

    def _show(self, run: TrainingRun) -> None:
        with self._changed:
            self.run, self._asked = run, False
            self._changed.notify_all()


def finished_run(plan: Plan) -> TrainingRun | None:
    """Return the whole training of this plan, if the server has done it for any visit and still keeps it.

    Returns None otherwise.
    """
    with _lock:
        return _finished.get(plan)


def train_toy(plan: Plan) -> Generator[TrainingRun | None]:
    """Train a toy: yields the run after every stage, and None while it waits for other trainings to finish.

    A plan that was trained to its end is not trained again: only that run is yielded. Pages that train by the same plan
    at the same time watch one training, which ends when all have left. A caller that stops early must close the
    iterator (``contextlib.closing``), or the training waits for it.

    Raises
    ------
    lab.models.jobs.TooMany
        If the server takes no more runs of this visitor.
    lab.models.jobs.Failed
        If the training ends in an error.
    """
    done = finished_run(plan)
    if done is not None:
        yield done
        return
    visit = this_visit()
    job = jobs.start(("toy", plan), _Training(plan), watcher=visit, pool=POOL, brief=True)
    try:
        yield from _stages(job)
    finally:
        job.unwatch(visit)


def _stages(job: Job) -> Generator[TrainingRun | None]:
    """Yield the run of a training under way after every stage."""
    training, run = job.work, None
    assert isinstance(training, _Training)
    while run is None or not run.latest.finished:
        ended, found = job.is_over, training.after(run)
        if found is not None:
            run = found
            yield run
        elif job.error is not None:
            raise job.error
        elif ended:
            return
        elif job.waiting:
            yield None


def _keep(run: TrainingRun) -> None:
    """Keep a whole training; if more than :data:`_FINISHED_KEPT` are kept, drop the oldest."""
    with _lock:
        _finished[run.plan] = run
        while len(_finished) > _FINISHED_KEPT:
            _finished.popitem(last=False)
