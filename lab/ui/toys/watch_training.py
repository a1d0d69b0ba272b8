"""The step in which a toy learns: before, during and after its training."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.named import INDUCTION, SCORED, toy_scores
from lab.analysis.heads.patterns import PATTERNS
from lab.charts.base.figure import Figure
from lab.figures.toy_figures import head_maps, head_names
from lab.questions.toy_questions import expected_pattern
from lab.toy.data import as_text, letter
from lab.toy.models import number_run
from lab.toy.tasks import IGNORED, Task
from lab.toy.tasks import task as task_of
from lab.toy.training import chance
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.parameters import TOY_WEIGHTS, TRAINED
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import show_table
from lab.ui.toys import toy_runs
from lab.ui.toys.watched import LiveTraining, show_curves

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.toy.training import Plan, TrainingRun
    from lab.ui.page import LessonPage

_LESSON = "toy"
_NAMES = {pattern.id: pattern.name.lower() for pattern in PATTERNS} | {INDUCTION: "induction"}


def show_training(page: LessonPage) -> None:
    """Show the task, a prediction, the training, and the heads after it."""
    chosen = page.selection
    if chosen[TOY_WEIGHTS] != TRAINED:
        task = task_of(toy_runs.plan(chosen).task)
        st.markdown(
            f"Here you can watch a toy learn a task, **{task.name}**: {task.description} What to look for: "
            f"**{task.look_for}**. The learning toy replaces the toy that you chose in the sidebar."
        )
        st.button("Choose “Trained live”", icon=":material/model_training:", on_click=toy_runs.choose_trained)
        return
    plan, words = toy_runs.plan(chosen), toy_runs.sentence(chosen)
    task, before = task_of(plan.task), runs.untrained_toy(plan)

    def stage(run: TrainingRun) -> Figure:
        return maps_of([("before", before), ("now", run.latest.model)], words)

    live = LiveTraining(plan, f"Look for **{task.look_for}**.", stage)
    _show_task(plan, task, words)
    run = live.train_if_asked()
    if not predict(_LESSON, expected_pattern(task), in_sight=run is not None):
        return
    live.offer(run)
    if run is None:
        st.markdown(f"Look for **{task.look_for}**. So far the toy has learned nothing:")
        draw(partial(maps_of, [("before", before)], words), "toy-maps")
    else:
        _show_run(run, task, words)


def _show_task(plan: Plan, task: Task, words: tuple[int, ...]) -> None:
    """Show the task, the toy that learns it, and the answers for the chosen sentence."""
    import torch

    answers = task.answers(torch.tensor([words]))[0].tolist()
    kind = (
        "BERT-shaped: every token sees all tokens"
        if not task.causal
        else "GPT-2-shaped: each token sees itself and the tokens before it"
    )
    st.markdown(
        f"**{task.name}** · {task.description} The toy is {kind}. It has {plan.layers} "
        f"layer{'s' * (plan.layers > 1)} of {plan.heads} head{'s' * (plan.heads > 1)}."
    )
    table = [[letter(word) for word in words], ["" if answer == IGNORED else letter(answer) for answer in answers]]
    show_table(pd.DataFrame(table, ["sentence", "answer"], [str(i + 1) for i in range(len(words))]), numbered=True)


def maps_of(stages: Sequence[tuple[str, LoadedModel]], words: tuple[int, ...]) -> Figure:
    """Draw every head of a toy at some stages of its training, by the names of the stages."""
    return head_maps([(name, number_run(model, as_text(words))) for name, model in stages])


def _show_run(run: TrainingRun, task: Task, words: tuple[int, ...]) -> None:
    """Show the whole of a run: every head at the slider's step, curves, scores."""
    plan, now = run.plan, run.latest
    st.markdown(
        f"**{now.accuracy:.1%}** of the answers on fresh sentences are right after {now.step} steps; always giving the "
        f"commonest answer would be right in {chance(plan):.1%} of cases. Look for **{task.look_for}**."
    )
    _show_stage(run, words)
    show_curves(run)
    _show_scores(run, task)
    st.markdown(
        "The gradients ran through the same forward pass as in the lessons, and each step descended the cross-entropy "
        "of the answers."
    )
    from lab.toy import training

    code(task.answers, training.logits, training.train)


@st.fragment
def _show_stage(run: TrainingRun, words: tuple[int, ...]) -> None:
    """Show every head after the slider's step; moving the slider redraws only this part of the page."""
    stages = {stage.step: stage for stage in run.stages}
    chosen = st.select_slider("After training step", list(stages), max(stages), key=f"_stage.{run.plan.steps}")
    stage = stages.get(chosen, run.latest)
    draw(partial(maps_of, [(f"step {stage.step}", stage.model)], words), "toy-maps")
    st.markdown(f"After step {stage.step}, **{stage.accuracy:.1%}** of the answers on fresh sentences are right.")


def _show_scores(run: TrainingRun, task: Task) -> None:
    """Show how clearly each head has the expected pattern, before training and now."""
    patterns = ("previous_token", INDUCTION) if task.pattern == INDUCTION else (task.pattern,)
    table: dict[str, object] = {"head": head_names(run.plan.layers, run.plan.heads)}
    for pattern in patterns:
        for stage, model in (("before", run.kept[0].model), ("now", run.latest.model)):
            table[f"{_NAMES[pattern]}, {stage}"] = toy_scores(model, run.plan, pattern).ravel()
    frame = pd.DataFrame(table)
    st.markdown(
        f"How much of the pattern “{_NAMES[task.pattern]}” does each head show? 0 means none of the pattern and 1 "
        f"means all of it, as a mean over {SCORED} other sentences."
    )
    numbers = dict.fromkeys(frame.columns[1:], "%.2f")
    show_table(frame, formats=numbers)
    best = frame.iloc[int(np.argmax(frame[f"{_NAMES[task.pattern]}, now"].to_numpy()))]
    name = str(best["head"])
    st.markdown(
        f"{name[:1].upper()}{name[1:]} shows the pattern most: {best.iloc[-2]:.2f} before training, "
        f"**{best.iloc[-1]:.2f}** now."
    )
