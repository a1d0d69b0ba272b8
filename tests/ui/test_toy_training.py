"""The server's side of a live training: places are limited, given back, and nothing is trained twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from lab.analysis.heads.of_toys import toy_scores
from lab.models.jobs import Failed, Places
from lab.toy import training
from lab.toy.tasks import TASKS
from lab.toy.tasks import task as task_of
from lab.toy.training import Plan, Snapshot, TrainingRun, untrained
from lab.ui.toys import live

PLAN = Plan("previous", 1, 4, 4, 0)


@pytest.fixture(autouse=True)
def short_and_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of twenty steps, one place, nothing remembered."""
    monkeypatch.setattr(Plan, "steps", property(lambda self: 20))
    monkeypatch.setattr(live, "LONG_RUNS", Places(1))
    monkeypatch.setattr(live, "_POLL", 0.01)
    live._finished.clear()
    live._begun.clear()


def all_of(plan: Plan) -> list[TrainingRun]:
    with closing(live.train_toy(plan)) as stages:
        return [run for run in stages if run is not None]


def test_a_whole_training_is_kept_and_not_repeated() -> None:
    runs = all_of(PLAN)
    assert [run.latest.step for run in runs] == list(range(21))
    assert live.finished_run(PLAN) is runs[-1]
    assert all_of(PLAN) == [runs[-1]]


def left_at(step: int, plan: Plan = PLAN) -> None:
    with closing(live.train_toy(plan)) as stages:
        for run in stages:
            if run is not None and run.latest.step == step:
                break


def test_a_stopped_training_gives_its_place_back_and_is_not_finished() -> None:
    left_at(5)
    assert live.finished_run(PLAN) is None
    assert not live.LONG_RUNS._held


def test_whoever_comes_next_goes_on_where_a_training_was_left() -> None:
    whole = all_of(PLAN)[-1]
    live._finished.clear()
    left_at(5)
    assert PLAN in live._begun
    with ThreadPoolExecutor(1) as another:
        runs = another.submit(all_of, PLAN).result()
    assert [run.latest.step for run in runs] == list(range(6, 21))
    assert runs[-1].curve == whole.curve, "to the bit what an uninterrupted training gives"
    assert live.finished_run(PLAN) is runs[-1] and PLAN not in live._begun


def test_trainings_that_were_left_are_bounded() -> None:
    for seed in range(live._BEGUN_KEPT + 1):
        left_at(1, replace(PLAN, seed=seed))
    assert len(live._begun) == live._BEGUN_KEPT and PLAN not in live._begun


def test_an_error_on_the_page_gives_the_place_back() -> None:
    with pytest.raises(RuntimeError, match="the page"), closing(live.train_toy(PLAN)) as stages:
        next(stages)
        raise RuntimeError("the page is gone")
    assert all_of(PLAN)[-1].latest.finished


def test_who_comes_later_waits_and_may_leave() -> None:
    with closing(live.train_toy(PLAN)) as first:
        next(first)
        with closing(live.train_toy(replace(PLAN, seed=1))) as second:
            assert [next(second) for _ in range(3)] == [None, None, None]
        assert next(first) is not None
    assert len(all_of(replace(PLAN, seed=1))) == 21


def test_two_who_train_the_same_toy_watch_one_training() -> None:
    first, second = live.train_toy(PLAN), live.train_toy(PLAN)
    assert next(first) is next(second)
    second.close()
    done = list(first)[-1]
    assert done is not None and [step for step, _, _ in done.curve] == list(range(21)), "it goes on for the first"
    assert list(live.train_toy(PLAN)) == [done]


def test_one_of_two_leaves_and_the_other_keeps_the_training() -> None:
    first, second = live.train_toy(PLAN), live.train_toy(PLAN)
    next(first), next(second), next(first)
    first.close()
    assert PLAN not in live._begun
    next(second)
    second.close()
    assert PLAN in live._begun and not live.LONG_RUNS._held


def test_a_training_that_fails_says_so_and_gives_its_place_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def train(plan: Plan) -> Iterator[Snapshot]:
        yield Snapshot(plan, 0, 1.0, 0.0, untrained(plan))
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", train)
        stages = live.train_toy(PLAN)
        next(stages)
        with pytest.raises(Failed):
            list(stages)
    assert "broken" in caplog.text and not live.LONG_RUNS._held
    assert all_of(PLAN)[-1].latest.finished, "the next one begins again"


def test_what_the_server_keeps_is_bounded() -> None:
    run = all_of(PLAN)[-1]
    for seed in range(live._FINISHED_KEPT + 5):
        live._keep(live._finished, replace(PLAN, seed=seed), run, live._FINISHED_KEPT)
    assert len(live._finished) == live._FINISHED_KEPT
    assert live.finished_run(PLAN) is None


@pytest.mark.parametrize("task", [task.id for task in TASKS])
def test_scores_have_a_number_for_each_head(task: str) -> None:
    plan = Plan(task, 2, 6, 6, 0)
    scores = toy_scores(untrained(plan), plan, task_of(task).pattern)
    assert scores.shape == (2, 2)
    assert ((scores >= 0) & (scores <= 1)).all()
