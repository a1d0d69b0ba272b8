"""Toys and their trainings, shared by all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Generator, Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached.runs import TURNS, weights_of

if TYPE_CHECKING:
    from lab.analysis.heads.values import Values
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace
    from lab.toy.data import ToyData
    from lab.toy.training import Plan, Run

# So many toys learn at once; between two stages each gives its turn to whoever waits for one.
_LESSONS = threading.BoundedSemaphore(os.cpu_count() or 1)
_POLL = 0.2  # seconds
_FINISHED_KEPT = 24
# Sentences over which the score of a toy's head is a mean; their seed is none a learner can set.
SCORED, _SCORED_SEED = 40, 10_000
_finished: OrderedDict[Plan, Run] = OrderedDict()
_finished_lock = threading.Lock()


@st.cache_resource(max_entries=16, show_spinner=False)
def toy_data(vocabulary: int, length: int, count: int, seed: int) -> ToyData:
    """The synthetic sentences of these settings."""
    from lab.toy.data import generate

    return generate(vocabulary, length, count, seed)


@st.cache_resource(max_entries=16, show_spinner=False)
def toy_run(
    weights: str, vocabulary: int, length: int, seed: int, sentence: str, heads: int | None = None
) -> Trace:  # fmt: skip
    """One number sentence through a toy, by the same pass as any other text.

    ``heads`` cuts the random toy anew; the constructed one is written for its three.
    """
    from lab.models.trace import trace
    from lab.toy.models import constructed_toy, random_toy
    from lab.toy.recut import recut

    if weights == "Random":
        toy = random_toy(vocabulary, length, seed=seed)
        return trace(toy if heads is None else recut(toy, heads), sentence)
    return trace(constructed_toy(vocabulary, length), sentence)


@st.cache_resource(max_entries=16, show_spinner=False)
def untrained_toy(plan: Plan) -> LoadedModel:
    """The toy that a plan begins with."""
    from lab.toy.training import untrained

    return untrained(plan)


def number_run(toy: LoadedModel, sentence: str) -> Trace:
    """One number sentence through a toy at hand. A toy's trace takes a millisecond and is not kept."""
    from lab.models.trace import trace

    with TURNS:
        return trace(toy, sentence)


@st.cache_data(max_entries=64, show_spinner=False)
def toy_chance(plan: Plan) -> float:
    """The accuracy of always giving the most common answer of a plan's task."""
    from lab.toy.training import chance

    return chance(plan)


def toy_scores(plan: Plan, toy: LoadedModel, pattern: str) -> Values:
    """How much of a pattern each head has, (L, H), over sentences like those the toy was taught on."""
    return _toy_scores(toy, weights_of(toy), plan, pattern)


@st.cache_data(max_entries=256, show_spinner=False)
def _toy_scores(_toy: LoadedModel, weights: Hashable, plan: Plan, pattern: str) -> Values:
    from lab.analysis.heads.of_toys import pattern_scores
    from lab.models.trace import trace
    from lab.toy.data import as_text, generate

    others = generate(plan.vocabulary, plan.max_length, SCORED, _SCORED_SEED).sentences
    with TURNS:
        return pattern_scores([trace(_toy, as_text(each)) for each in others], pattern)


def finished_run(plan: Plan) -> Run | None:
    """The whole training of this plan, if the server has done it for anybody and not forgotten it."""
    with _finished_lock:
        return _finished.get(plan)


def train_toy(plan: Plan) -> Generator[Run | None]:
    """Teach a toy: yields the run after every stage, and None while it waits for others to finish.

    A plan that was trained to its end before is not trained again: the only thing yielded is that
    run. Whoever stops asking must close the iterator (``contextlib.closing``), or the place stays taken.
    """
    import torch

    from lab.toy.training import begin, train

    torch.set_num_threads(1)
    while not _LESSONS.acquire(timeout=_POLL):
        yield None
    try:
        done = finished_run(plan)
        if done is not None:
            yield done
            return
        run, snapshots = None, train(plan)
        while True:
            with TURNS:
                snapshot = next(snapshots, None)
            if snapshot is None:
                return
            run = begin(snapshot) if run is None else run.then(snapshot)
            if snapshot.finished:
                _keep(run)
            yield run
    finally:
        _LESSONS.release()


def _keep(run: Run) -> None:
    with _finished_lock:
        _finished[run.plan] = run
        while len(_finished) > _FINISHED_KEPT:
            _finished.popitem(last=False)
