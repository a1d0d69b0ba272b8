"""A toy learns while somebody watches: in the background, once for all sessions; its figures, stage by stage."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.models import jobs
from lab.models.cores import one_core
from lab.models.jobs import Failed, Job, TooMany
from lab.toy.training import chance
from lab.ui.drawing import draw
from lab.ui.long_work import POOL, this_visit
from lab.ui.teaching import larger_chart
from lab.ui.toys import toy_runs
from lab.ui.toys.toy_runs import TRAIN_STEP

if TYPE_CHECKING:
    from lab.toy.training import Plan, TrainingRun


@dataclass(frozen=True)
class LiveTraining:
    """The place of a training, above everything drawn later: nobody has to scroll while the toy learns.

    ``look_for`` says what to watch; ``stage`` draws the figure after every stage; ``step`` is the name of the step.
    """

    plan: Plan
    look_for: str
    stage: Callable[[TrainingRun], Figure]
    step: str = TRAIN_STEP
    place: DeltaGenerator = field(default_factory=st.container)
    asked: bool = field(default_factory=toy_runs.training_asked)

    def train_if_asked(self) -> TrainingRun | None:
        """If the learner asked for it, train and rerun the page, even if the step begins with a question.

        Otherwise return the run.
        """
        run = toy_runs.run_of(self.plan)
        if self.asked and (run is None or not run.latest.finished):
            with self.place:
                try:
                    self._train()
                except (Failed, TooMany) as error:
                    st.error(str(error), icon=":material/error:")
                    return run
            st.rerun()  # the header, the badge and the other steps now show the trained toy
        return run

    def offer(self, run: TrainingRun | None) -> None:
        """Draw the button that trains, unless training is finished."""
        if run is not None and run.latest.finished:
            return
        label, ask = "Train" if run is None else "Train from the beginning", toy_runs.start_training
        st.button(label, key="_train.start", icon=":material/model_training:", on_click=ask, args=(self.step,))

    def _train(self) -> None:
        """Train to the end and draw.

        A click anywhere ends the training: Streamlit stops this script the next time it draws.
        """
        plan = self.plan
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Stop", key="_train.stop", icon=":material/stop:")
            st.caption(
                "Stop ends the training, and so does any other change on this page. You then see what the toy has "
                "learned so far."
            )
        bar = st.progress(0.0, "Waiting for a free core …")
        st.markdown(self.look_for)
        watched, curve = st.empty(), st.empty()
        with closing(train_toy(plan)) as stages:
            for run in stages:
                if run is None:
                    bar.progress(0.0, "Other runs on this server come first.")
                    continue
                toy_runs.remember(run)
                now = run.latest
                right = f"{now.accuracy:.1%} of answers right"
                bar.progress(now.step / plan.steps, f"Step {now.step} of {plan.steps}: {right}")
                watched.vega_lite_chart(**_drawn(self.stage(run)))
                if len(run.curve) > 1:
                    curve.vega_lite_chart(**_drawn(right_answers(run)))


def _drawn(figure: Figure) -> dict[str, Any]:
    """Return a figure for a drawing that is replaced before anybody could ask for its table."""
    return {"data": figure.data, "spec": larger_chart(dict(figure.spec)), "width": figure.width, "alt": figure.alt}


def show_curves(run: TrainingRun) -> None:
    """Draw the curves of accuracy and loss, from the first step to now."""
    if len(run.curve) > 1:
        left, right = st.columns(2)
        with left:
            draw(partial(right_answers, run), "toy-accuracy")
        with right:
            draw(partial(loss_of_training, run), "toy-loss")


def right_answers(run: TrainingRun) -> Figure:
    """Draw the share of right answers by step, and for comparison the score of always giving the commonest answer."""
    steps, _, accuracies = zip(*run.curve, strict=True)
    commonest = chance(run.plan)
    series = {"This toy": accuracies, "Commonest answer": [commonest] * len(steps)}
    scale = Scale("Share right", (0.0, 1.0))
    return lines(series, AxisPlaces("Step", steps), scale, title="Right answers on fresh sentences")


def loss_of_training(run: TrainingRun) -> Figure:
    """Draw the loss by step."""
    steps, losses, _ = zip(*run.curve, strict=True)
    scale = Scale("Cross-entropy (nats)", (0.0, max(losses)))
    return lines({"Loss": losses}, AxisPlaces("Step", steps), scale, title="Loss on fresh sentences")


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
