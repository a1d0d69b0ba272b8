"""The sentences on which the last layer is trained, and the results that a page shows of this visit's trained model."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import streamlit as st

from lab.analysis.tasks.probing import LabelledTask, folds
from lab.analysis.tasks.tuning import STEPS, Tuned, tune
from lab.course.sentences.task_sentences import news
from lab.figures.notebook import argument
from lab.lessons.a_task_of_your_own.copies import Copy, copy_of, keep
from lab.lessons.a_task_of_your_own.taught import VisitLabels
from lab.lessons.a_task_of_your_own.teach_it import chosen_labels
from lab.models.batches import ProgressFunction, unwatched
from lab.models.cores import one_core
from lab.models.loading import LoadedModel
from lab.ui.long_work import offer, unasked
from lab.ui.parameters import TAUGHT, TAUGHT_OWN
from lab.ui.visitor import Visitor, this_visitor

ENOUGH = 8  # sentences of each label; with fewer of the learner's own, the lab's are used
_COPY = "_trained_layer"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Split:
    """A task whose sentences are split: those that are learned, and those that test, by number."""

    task: LabelledTask
    learned: tuple[int, ...]
    tested: tuple[int, ...]
    own: bool

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self.task.texts[i] for i in self.learned)

    @property
    def marks(self) -> tuple[bool, ...]:
        return tuple(self.task.marks[i] for i in self.learned)


def split(now: VisitLabels, *, wants_own: bool) -> Split:
    """Return the learner's own labelled sentences if they are wanted and enough, else the lab's; half are learned."""
    own = [(text, mark) for text, mark in now.own if mark is not None]
    is_own = wants_own and all(sum(mark is label for _, mark in own) >= ENOUGH for label in (True, False))
    if is_own:
        texts, marks = zip(*own, strict=True)
        task = LabelledTask("own", now.labels, texts, marks, tuple(range(len(texts))))
    else:
        task = news()
    fold = folds(task.groups, 2)
    return Split(task, _where(fold == 0), _where(fold == 1), is_own)


def tuned_on(model: LoadedModel, found: Split, tell: ProgressFunction = unwatched) -> Tuned:
    """Train the last layer on the half of the sentences that is learned."""
    return tune(model, found.texts, found.marks, tell)


def tuned_again(model: LoadedModel, found: Split) -> Tuned:
    """Return the call that trains again on these sentences, as an argument of the call that makes a figure."""
    own = tuple(zip(found.task.texts, found.task.marks, strict=True)) if found.own else ()
    now = VisitLabels(own=own, labels=found.task.labels) if found.own else VisitLabels()
    return argument(tuned_on, model, argument(split, now, wants_own=found.own))


def chosen_split() -> Split:
    """The sentences of the list that the learner has chosen in *Teach it*, if they are enough."""
    return split(chosen_labels(), wants_own=TAUGHT.chosen() == TAUGHT_OWN)


def _where(chosen: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())


def show_with_trained(
    model: LoadedModel, found: Split, asked: Hashable, make: Callable[[Tuned], Result]
) -> Result | None:
    """Return ``make(tuned)`` for the trained model of this visit, computed once for ``asked``.

    Without a trained layer, draw the button that trains it and return None. A layer that had to go is trained again by
    itself, from the same seed.
    """
    key = ("trained layer", model.id, found.texts, found.marks)
    copy = copy_of(key)
    st.session_state[_COPY] = copy  # as long as the visit lasts, and until it trains on something else
    with one_core():
        there = copy.result(asked, make)
    if there is None:
        train = partial(_train, model, found, copy, this_visitor())
        label = f"Train the last layer, {STEPS} steps"
        if copy.had_to_go:
            unasked(key, label, train)
        else:
            offer(key, label, train, brief=True)
    return there


def _train(model: LoadedModel, found: Split, copy: Copy, whose: Visitor, tell: ProgressFunction) -> None:
    keep(copy, tuned_on(model, found, tell), whose)
