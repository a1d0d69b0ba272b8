"""A toy learns while somebody watches: the button, the figure after each stage, and the curves of the result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.models.jobs import Failed, TooMany
from lab.toy.training import chance
from lab.ui.drawing import draw
from lab.ui.teaching import larger_chart
from lab.ui.toys import toy_runs
from lab.ui.toys.live import train_toy
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
