"""The toy that a learner trains: the training that the sidebar describes, and the trainings of this session so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from lab.course.pages import lesson_of, step_name
from lab.course.ways import SHORT
from lab.toy.data import NotASentence, as_text, typed
from lab.toy.rules import LETTERS, LONGEST, rule_named
from lab.toy.tasks import task_named
from lab.ui import runs
from lab.ui.parameters import (
    MODE,
    STEP,
    TOY,
    TOY_COUNT,
    TOY_LAYERS,
    TOY_LENGTH,
    TOY_OWN,
    TOY_RULE,
    TOY_SEED,
    TOY_SENTENCE,
    TOY_TASK,
    TOY_TRAINED_HEADS,
    TOY_VOCABULARY,
    TOY_WEIGHTS,
    TRAINED,
    WAY,
)
from lab.ui.selection import Selection, note, open_page

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.toy.data import ToyData
    from lab.toy.training import Plan, TrainingRun

TRAIN_STEP = "Train a toy"
# The lesson and the step, by id, in which the toy learns that fills a blank.
LEARNS = "how-it-learns", "many-steps"
_RUNS = "_toy_runs"
_RUNS_KEPT = 6
_ASKED = "_train_asked"


def sentences(chosen: Selection) -> ToyData:
    """Return the sentences of letters that the sidebar's settings make."""
    return runs.toy_data(chosen[TOY_VOCABULARY], chosen[TOY_LENGTH], chosen[TOY_COUNT], chosen[TOY_SEED])


def texts(chosen: Selection) -> tuple[str, ...]:
    """Return the sentences of letters, as the model reads them."""
    return tuple(as_text(each) for each in sentences(chosen).sentences)


def sentence(chosen: Selection) -> tuple[int, ...]:
    """Return the sentence to look at: the learner's own letters or, without letters, the chosen synthetic sentence."""
    own = _own(chosen, chosen[TOY_VOCABULARY], chosen[TOY_LENGTH])
    every = sentences(chosen).sentences
    return own or every[min(chosen[TOY_SENTENCE], len(every)) - 1]


def _own(chosen: Selection, vocabulary: int, longest: int) -> tuple[int, ...] | None:
    """Return the learner's own letters; None, with the reason, if they are not a sentence of the toy."""
    if not chosen[TOY_OWN].strip():
        return None
    try:
        return typed(chosen[TOY_OWN], vocabulary, longest)
    except NotASentence as reason:
        note(f"{reason} You see sentence {chosen[TOY_SENTENCE]} instead.")
        return None


def plan(chosen: Selection) -> Plan:
    """Return the training that the sidebar describes."""
    from lab.toy.training import Plan

    task = task_named(chosen[TOY_TASK])
    sizes = chosen[TOY_LAYERS], chosen[TOY_VOCABULARY], chosen[TOY_LENGTH]
    return Plan(task.id, *sizes, chosen[TOY_SEED], chosen[TOY_TRAINED_HEADS])


def ruled(chosen: Selection) -> ToyData:
    """Return the sentences of the rule that the sidebar names."""
    return runs.ruled_data(chosen[TOY_RULE], chosen[TOY_SEED])


def ruled_sentence(chosen: Selection) -> tuple[int, ...]:
    """Return the learner's own letters or, without letters, the chosen sentence of :func:`ruled`."""
    every = ruled(chosen).sentences
    return _own(chosen, LETTERS, LONGEST) or every[min(chosen[TOY_SENTENCE], len(every)) - 1]


def blank_plan(chosen: Selection) -> Plan:
    """Return the training of the toy that learns to fill the blank."""
    from lab.toy.training import Plan

    rule, heads = rule_named(chosen[TOY_RULE]), chosen[TOY_TRAINED_HEADS]
    return Plan(rule.id, chosen[TOY_LAYERS], LETTERS, LONGEST, chosen[TOY_SEED], heads)


def run_of(wanted: Plan) -> TrainingRun | None:
    """Return the training that this session ran by the plan ``wanted``, finished or stopped; None if there is none."""
    trained: dict[Plan, TrainingRun] = st.session_state.get(_RUNS, {})
    return trained.get(wanted)


def remember(run: TrainingRun) -> None:
    """Keep a run for this session; if there are too many, drop the oldest."""
    trained: dict[Plan, TrainingRun] = st.session_state.setdefault(_RUNS, {})
    trained.pop(run.plan, None)
    trained[run.plan] = run
    for old in list(trained)[:-_RUNS_KEPT]:
        del trained[old]


def toy(wanted: Plan) -> LoadedModel:
    """Return the toy as this session has trained it, or as it is before training."""
    run = run_of(wanted)
    return runs.untrained_toy(wanted) if run is None else run.latest.model


def ask_for_training() -> None:
    """For a button: go to the step in which toys are trained, and start the training."""
    TOY_WEIGHTS.set(TRAINED)
    start_training(TRAIN_STEP)


def start_training(step: str) -> None:
    """For a button: start the training in the ``step`` of that name."""
    STEP.set(step)
    ask_to_train()


def ask_to_train() -> None:
    """Ask the step that trains to begin when it is drawn next."""
    st.session_state[_ASKED] = True


def link_to_toy(label: str, step: str) -> None:
    """Draw a button from a step of a lesson to the step of its toy that shows the same idea with letters.

    The short way has no such button, because no toy is on it.
    """
    if WAY.chosen() == SHORT:
        return

    def go() -> None:
        MODE.set(TOY)
        STEP.set(step)

    st.button(label, key="_to_toy", icon=":material/toys:", type="tertiary", on_click=go)


def choose_trained() -> None:
    """For a button: go to the controls of the training."""
    TOY_WEIGHTS.set(TRAINED)


def training_asked() -> bool:
    """Return whether the learner has asked for training since the last call."""
    return bool(st.session_state.pop(_ASKED, False))


def open_learning() -> None:
    """Leave for the step in which a toy learns to fill a blank, and let it begin to learn there."""
    ask_to_train()
    lesson, step = LEARNS
    open_page(lesson_of(lesson), step_name(lesson, step))
