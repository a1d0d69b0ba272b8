"""The server's side of a live training: places are limited, given back, and nothing is trained twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import count

import pytest

from lab.analysis.heads.named import toy_scores
from lab.models import jobs
from lab.models.jobs import Failed, Pool
from lab.toy import training
from lab.toy.tasks import TASKS
from lab.toy.tasks import task as task_of
from lab.toy.training import Plan, Snapshot, TrainingRun, untrained
from lab.ui.long_work import Visit
from lab.ui.toys import watched
from lab.ui.visitor import Visitor

PLAN = Plan("previous", 1, 4, 4, 0)


@pytest.fixture(autouse=True)
def short_and_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of twenty steps, one place (the one that is kept for brief jobs), nothing remembered."""
    monkeypatch.setattr(Plan, "steps", property(lambda self: 20))
    monkeypatch.setattr(watched, "POOL", Pool(0))
    monkeypatch.setattr(watched, "_POLL", 0.01)
    watched._finished.clear()


def all_of(plan: Plan) -> list[TrainingRun]:
    with closing(watched.train_toy(plan)) as stages:
        return [run for run in stages if run is not None]


def test_a_whole_training_is_kept_and_not_repeated() -> None:
    runs = all_of(PLAN)
    assert [run.latest.step for run in runs] == list(range(21))
    assert watched.finished_run(PLAN) is runs[-1]
    assert all_of(PLAN) == [runs[-1]]


def place_is_free() -> bool:
    """Whether the place is given back, at the latest when the last stage is over."""
    end = time.monotonic() + 10
    while watched.POOL._held and time.monotonic() < end:
        time.sleep(0.01)
    return not watched.POOL._held


def test_a_stopped_training_gives_its_place_back_and_the_next_one_begins_anew() -> None:
    with closing(watched.train_toy(PLAN)) as stages:
        for run in stages:
            if run is not None and run.latest.step == 5:
                break
    assert watched.finished_run(PLAN) is None and place_is_free()
    assert [run.latest.step for run in all_of(PLAN)] == list(range(21))


def test_an_error_on_the_page_gives_the_place_back() -> None:
    with pytest.raises(RuntimeError, match="the page"), closing(watched.train_toy(PLAN)) as stages:
        next(stages)
        raise RuntimeError("the page is gone")
    assert all_of(PLAN)[-1].latest.finished


def test_who_comes_later_waits_and_may_leave() -> None:
    with closing(watched.train_toy(PLAN)) as first:
        next(first)
        with closing(watched.train_toy(replace(PLAN, seed=1))) as second:
            assert [next(second) for _ in range(3)] == [None, None, None]
        assert next(first) is not None
    assert len(all_of(replace(PLAN, seed=1))) == 21


@pytest.fixture
def visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever begins a training is another visit than the one before."""
    numbers = count()
    monkeypatch.setattr(watched, "this_visit", lambda: Visit(str(next(numbers)), Visitor("here", "")))


@pytest.mark.usefixtures("visitors")
def test_two_who_train_the_same_toy_watch_one_training() -> None:
    first, second = watched.train_toy(PLAN), watched.train_toy(PLAN)
    assert next(first) is next(second)
    second.close()
    done = list(first)[-1]
    assert done is not None and [step for step, _, _ in done.curve] == list(range(21)), "it goes on for the first"
    assert list(watched.train_toy(PLAN)) == [done]


@pytest.mark.usefixtures("visitors")
def test_one_of_two_leaves_and_the_other_keeps_the_training() -> None:
    first, second = watched.train_toy(PLAN), watched.train_toy(PLAN)
    next(first), next(second), next(first)
    first.close()
    assert next(second) is not None and watched.POOL._held
    second.close()
    assert place_is_free()


def test_who_trains_too_many_toys_is_told() -> None:
    with ExitStack() as held:
        for seed in range(jobs.MOST[2]):
            next(held.enter_context(closing(watched.train_toy(replace(PLAN, seed=seed)))))
        with pytest.raises(jobs.TooMany):
            next(watched.train_toy(replace(PLAN, seed=9)))


def test_a_training_that_fails_says_so_and_gives_its_place_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def train(plan: Plan) -> Iterator[Snapshot]:
        yield Snapshot(plan, 0, 1.0, 0.0, untrained(plan))
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", train)
        stages = watched.train_toy(PLAN)
        next(stages)
        with pytest.raises(Failed):
            list(stages)
    assert "broken" in caplog.text and place_is_free()
    assert all_of(PLAN)[-1].latest.finished, "the next one begins again"


def test_what_the_server_keeps_is_bounded() -> None:
    run = all_of(PLAN)[-1]
    for seed in range(watched._FINISHED_KEPT + 5):
        watched._keep(replace(run, latest=replace(run.latest, plan=replace(PLAN, seed=seed))))
    assert len(watched._finished) == watched._FINISHED_KEPT
    assert watched.finished_run(PLAN) is None


@pytest.mark.parametrize("task", [task.id for task in TASKS])
def test_scores_have_a_number_for_each_head(task: str) -> None:
    plan = Plan(task, 2, 6, 6, 0)
    scores = toy_scores(untrained(plan), plan, task_of(task).pattern)
    assert scores.shape == (2, 2)
    assert ((scores >= 0) & (scores <= 1)).all()
