"""The sentences on which the last layer is trained, the trained copies of this server, and their results.

Visitors who train the same model on the same sentences share one copy. Its layer takes megabytes. When newer layers
need room, the visitor with the most layers gives one up. The results that the pages have shown take kilobytes, and
stay as long as a visit holds the copy.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st

from lab.analysis.tasks.logistic import LabelledTask, folds
from lab.analysis.tasks.tuning import STEPS, Tuned, tune
from lab.course.sentences.news import news
from lab.figures.notebook import argument
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


# The most bytes of all trained layers on a server: a layer of lab-minilm takes 7 MB, one of bert-base 28 MB.
ROOM = 60_000_000
_MOST_FOUND = 12  # results that are kept with a copy


@dataclass(eq=False)
class Copy:
    """The place of a trained layer, and the results that were computed with it.

    ``tuned`` is None before the training, and after newer layers took its room: then ``had_to_go`` is true. ``whose``
    is the visitor who has trained it.
    """

    of: Hashable
    whose: Hashable = None
    tuned: Tuned | None = None
    had_to_go: bool = False
    _found: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)

    def result(self, asked: Hashable, make: Callable[[Tuned], Result]) -> Result | None:
        """Return ``make(tuned)``, computed once for ``asked``; None if it is not known and there is no layer now."""
        tuned = self.tuned
        with _LOCK:
            if asked in self._found:
                self._found.move_to_end(asked)
                there: Result = self._found[asked]
                return there
        if tuned is None:
            return None
        made = make(tuned)
        with _LOCK:
            self._found[asked] = made
            while len(self._found) > _MOST_FOUND:
                self._found.popitem(last=False)
        return made


_COPIES: WeakValueDictionary[Hashable, Copy] = WeakValueDictionary()
_LOCK = threading.Lock()


def copy_of(key: Hashable) -> Copy:
    """Return the copy for this model and these sentences, which all visitors share; whoever holds it keeps it."""
    with _LOCK:
        found = _COPIES.get(key)
        if found is None:
            found = _COPIES[key] = Copy(key)
        return found


def keep(copy: Copy, tuned: Tuned, whose: Hashable = None) -> None:
    """Put a trained layer into its place.

    Until there is room for all, the visitor with the most layers loses the oldest one.
    """
    with _LOCK:
        copy.tuned, copy.whose, copy.had_to_go = tuned, whose, False
        _COPIES.pop(copy.of, None)
        _COPIES[copy.of] = copy  # the newest comes last
        there = {each: each.tuned.nbytes for each in _COPIES.values() if each.tuned is not None}
        while sum(there.values()) > ROOM and len(there) > 1:
            held = Counter(each.whose for each in there)
            goes = max((each for each in there if each is not copy), key=lambda each: held[each.whose])
            goes.tuned, goes.had_to_go = None, True
            del there[goes]
