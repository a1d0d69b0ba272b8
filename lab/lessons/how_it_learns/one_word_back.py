"""A head that comes to look one word back, while one watches: a toy learns to answer with the letter before."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.marks.marked import marked_lines
from lab.course.pages import step_name
from lab.figures import attention
from lab.lessons.how_it_learns import LESSON
from lab.models.loading import LoadedModel
from lab.toy.data import as_text
from lab.toy.run_of_toy import number_run
from lab.toy.training import Plan, Snapshot, TrainingRun, logits, train
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.terms import say
from lab.ui.toys.watched import LiveTraining

IDEA = """
Training repeats one small step many times, each time with other sentences. Watch another **toy**, with one head, so
small that it learns in seconds. Its sentences are letters, and the right answer at each letter is the letter before it.
(The first letter has no right answer.) Nobody tells the toy where to look."""
UNTRAINED = "The toy has random weights. Where does its head look? Each row is a letter that looks."
WATCH = "The head’s map, while the toy learns:"
READING = """
After {step} steps, a letter gives the letter before it **{now:.2f}** of its attention, on average ({first:.2f} before
the first step). The loss on new sentences went from {before:.2f} to {after:.2f}."""
WRITTEN = """ So the head has come to look one letter back, though the toy was told only which answers are right. Head
1-3 of lab-minilm mostly looks one token back."""
LIKE = "A real model learns in the same way. The small models of this lab took thousands of such steps."
LEAST = 0.5  # a head that gives the letter before less than this has not learned to look there
SENTENCE = (3, 1, 6, 2, 5, 4, 8, 7)  # letters in no order, each once
PLAN = Plan("previous", layers=1, vocabulary=8, max_length=8, seed=0, heads=1)


def show(ask: Callable[[], bool]) -> None:
    """Show the head of the untrained toy; ``ask`` where it will look; show the training, and any state of it.

    ``ask`` returns whether the answer may be seen.
    """
    live = LiveTraining(PLAN, WATCH, lambda run: head_map(run.latest.model), step_name(LESSON, "many-steps"))
    idea(IDEA)
    run = live.train_if_asked()
    live.offer(run)
    if run is None:
        say(UNTRAINED)
        draw(partial(head_map, runs.untrained_toy(PLAN)), "toy-map")
    if not ask() or run is None:
        return
    _show_states(run)
    say(LIKE)
    code(PLAN.what.draw, logits, train)


@st.fragment
def _show_states(run: TrainingRun) -> None:
    """Show the loss and the map after the slider's step; the slider redraws only this part."""
    stages = {each.step: each for each in run.stages}
    step = st.select_slider("After training step", list(stages), max(stages), key=f"_stage.{run.plan.steps}.back")
    now = stages.get(step, run.latest)
    left, right = st.columns(2)
    with left:
        draw(partial(head_map, now.model), "toy-map")
    with right:
        draw(partial(falling, run, now.step), "toy-loss")
    meaning(said(run.kept[0], now))


def head_map(model: LoadedModel) -> Heatmap:
    """Draw where each letter of the sentence looks."""
    return attention.attention_map(number_run(model, as_text(SENTENCE)), 0, 0, title="Where the head looks")


def one_back(model: LoadedModel) -> float:
    """The share that a letter gives to the letter before it, on average."""
    return float(number_run(model, as_text(SENTENCE)).attention[0, 0].diagonal(-1).mean())


def falling(run: TrainingRun, step: int) -> Figure:
    """Draw the loss on new sentences over the steps of the training, and mark one step."""
    steps, losses, _ = zip(*run.curve, strict=True)
    mark = {"chosen step": (float(step), losses[steps.index(step)])}
    x, y = AxisPlaces("Step of training", steps), Scale("Loss", (0.0, math.ceil(2 * max(losses)) / 2), ".2f")
    return marked_lines({"Loss on new sentences": losses}, mark, x, y, title="The loss falls", log=False)


def said(first: Snapshot, now: Snapshot) -> str:
    """Say how much the head looks one letter back, and what became of the loss."""
    share = one_back(now.model)
    told = READING.format(
        step=now.step, now=share, first=one_back(first.model), before=first.loss, after=now.loss
    )  # fmt: skip
    return told + WRITTEN * (share >= LEAST)
