"""Toy mode on screen: synthetic sentences, their validation and summary, and the sentence to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from lab.models.trace import Trace
from lab.toy.data import as_text, generate, summarise, validate
from lab.toy.models import number_run
from lab.ui import runs
from lab.ui.drawing import code
from lab.ui.page import LessonPage, OpenPage
from lab.ui.parameters import RANDOM, TOY_HEADS, TOY_LENGTH, TOY_OWN, TOY_SEED, TOY_VOCABULARY, TOY_WEIGHTS, TRAINED
from lab.ui.screen import show_table
from lab.ui.toys import toy_runs
from lab.ui.toys.controls import cut
from lab.ui.toys.toy_runs import TRAIN_STEP
from lab.ui.toys.watch_training import show_training

if TYPE_CHECKING:
    from lab.toy.data import ToyData
    from lab.toy.training import Plan


_PURPOSE = "A toy: sentences of made-up words, one letter each, through a model small enough to read every number."


def toy_trace(page: OpenPage) -> Trace:
    """Run the chosen sentence of letters through the chosen toy; says which toy it is."""
    chosen = page.selection
    text = as_text(toy_runs.sentence(chosen))
    if chosen[TOY_WEIGHTS] == TRAINED:
        plan = toy_runs.plan(chosen)
        say_trained(_PURPOSE, plan, f"The step “{TRAIN_STEP}”{' of a lesson' * (not isinstance(page, LessonPage))}")
        return number_run(toy_runs.toy(plan), text)
    if chosen[TOY_WEIGHTS] == RANDOM:
        st.info(
            f"{_PURPOSE} These weights are random: nothing is learned here. Compare with a trained model.",
            icon=":material/casino:",
        )
    else:
        st.info(
            f"{_PURPOSE} These weights were written by hand, one rule for each head.",
            icon=":material/construction:",
        )
    settings = (chosen[TOY_VOCABULARY], chosen[TOY_LENGTH], chosen[TOY_SEED])
    heads = cut(chosen[TOY_HEADS]) if chosen[TOY_WEIGHTS] == RANDOM else None
    return number_run(runs.toy(chosen[TOY_WEIGHTS], *settings, heads), text)


def say_trained(purpose: str, plan: Plan, teaches: str) -> None:
    """Say which toy is on screen: before training, stopped during training, or trained.

    ``teaches`` names the step that trains it, as the subject of a sentence.
    """
    run, task = toy_runs.run_of(plan), plan.what
    kind = "rule" if task.hides else "task"
    if run is None or run.latest.step == 0:
        st.info(
            f"{purpose} Before training, its weights are random. {teaches} teaches the toy the {kind} “{task.name}”.",
            icon=":material/model_training:",
        )
        return
    now = run.latest
    how = "Trained here" if now.finished else f"Training stopped at step {now.step} of {plan.steps}"
    st.info(
        f"{purpose} {how} on the {kind} “{task.name}”: {now.accuracy:.1%} of its answers on fresh sentences are right.",
        icon=":material/model_training:",
    )


def show_toy_data(page: LessonPage) -> None:
    """Show why the data are made up, the data themselves, their checks and summary, and the code that made them."""
    data = toy_runs.sentences(page.selection)
    st.markdown(
        "Each letter is a word, drawn at random with the seed in the sidebar. **Why made-up sentences?** You know "
        "everything that is in them: no meaning can help a head, so it can find only letters and places. And the "
        "sentences are short enough to read every number."
    )
    columns = {"sentence": [as_text(s) for s in data.sentences], "length": [len(s) for s in data.sentences]}
    show_table(pd.DataFrame(columns, index=range(1, len(data.sentences) + 1)), numbered=True)
    show_validation(data)
    if page.selection[TOY_OWN].strip():
        own = toy_runs.sentence(page.selection)
        show_validation(replace(data, sentences=(own,), count=1), title="How your sentence is checked")
    code(generate, validate)


def show_validation(
    data: ToyData,
    *more: tuple[str, str, str, bool],
    title: str = "Data validation and summary",
    numbers: str = "In these tables a word is its number: a is 1, b is 2.",
) -> None:
    """Draw the checks and the summary of the data, as tables behind a click; a lesson adds the checks in ``more``."""
    key = f"_validation.{title}"
    with st.expander(title, icon=":material/fact_check:", on_change="rerun", key=key) as folded:
        if not folded.open:
            return
        checked = validate(data)
        st.markdown(numbers)
        show_table(pd.concat([checked, pd.DataFrame(more, columns=checked.columns)]))
        show_table(summarise(data))


ToySteps = Mapping[str, Callable[[LessonPage], None]]
# The first steps of a lesson in toy mode.
TOY_STEPS: ToySteps = {"Toy data": show_toy_data, TRAIN_STEP: show_training}
