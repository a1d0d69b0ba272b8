"""Toys that are taught: they learn, in the shape they should, and stay models like any other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
import torch

from lab.analysis.heads.named import pattern_scores
from lab.models.loading import Checkpoint
from lab.models.proof import prove
from lab.models.trace import trace
from lab.toy.data import as_text, generate
from lab.toy.settings import SettingError
from lab.toy.tasks import IGNORED, TASKS
from lab.toy.tasks import task as task_of
from lab.toy.training import Plan, Snapshot, TrainingRun, begin, chance, logits, train, untrained
from tests.thorough import one_by_day, some

# Fewer steps than a learner waits for, and the least accuracy and head score after them.
BARS = {"previous": (160, 0.95, 0.5), "same": (480, 0.9, 0.6), "majority": (360, 0.85, 0.9),
        "induction": (260, 0.9, 0.5)}  # fmt: skip


def plan(task: str, seed: int = 0, layers: int | None = None) -> Plan:
    default = next(entry.layers for entry in TASKS if entry.id == task)
    return Plan(task, layers or default, vocabulary=8, max_length=8, seed=seed)


def take(wanted: Plan, steps: int) -> tuple[Snapshot, ...]:
    """The snapshots up to a step; then the training is left as a learner leaves it who clicks Stop."""
    found = []
    with torch.random.fork_rng():
        for snapshot in train(wanted):
            found.append(snapshot)
            if snapshot.step >= steps:
                break
    return tuple(found)


@cache
def taught(task: str, seed: int) -> tuple[Snapshot, ...]:
    torch.set_num_threads(1)
    return take(plan(task, seed), BARS[task][0])


def naive_accuracy(snapshot: Snapshot, sentences: Sequence[tuple[int, ...]]) -> float:
    """Through the lab's trace, sentence by sentence, answer by answer."""
    right = asked = 0
    for words in sentences:
        run = trace(snapshot.model, as_text(words))
        answers = task_of(snapshot.plan.task).answers(torch.tensor(words)).tolist()
        for place, answer in enumerate(answers):
            if answer != IGNORED:
                asked += 1
                right += int(run.logits(place).argmax()) == answer
    return right / asked


# The cheapest of them with another seed, too.
@one_by_day
@pytest.mark.parametrize(("task", "seed"), some([("previous", 2), *((task, 0) for task in BARS)], 3))
def test_a_toy_learns_its_task_with_the_head_it_needs(task: str, seed: int) -> None:
    first, last = taught(task, seed)[0], taught(task, seed)[-1]
    _, accuracy, score = BARS[task]
    sentences = generate(8, 8, 60, seed=77).sentences
    assert last.accuracy >= accuracy > 1.3 * chance(last.plan)
    assert first.accuracy < accuracy / 1.5
    assert last.loss < first.loss / 2
    # Not only on its own test sentences: on those a learner looks at, one by one.
    assert naive_accuracy(last, sentences) >= accuracy - 0.05
    pattern = task_of(task).pattern
    before, after = (
        pattern_scores([trace(each.model, as_text(words)) for words in sentences[:20]], pattern)
        for each in (first, last)
    )
    assert after.max() > score
    assert after.max() > before.max()
    if task == "induction":  # in the second layer, fed by a previous-token head in the first
        previous = pattern_scores([trace(last.model, as_text(words)) for words in sentences[:20]], "previous_token")
        assert after[1].max() > after[0].max()
        assert previous[0].max() > 0.5


@one_by_day
@pytest.mark.parametrize("task", BARS)
@pytest.mark.parametrize("at", [0, 1, -1])
def test_every_stage_is_proven(task: str, at: int) -> None:
    model = taught(task, 0)[at].model
    for text in ("c e c b d d a h", "a ? a", "g"):
        proof = prove(model, trace(model, text))
        assert proof.passed, proof.first_failure
        assert {"attention", "output", "logits"} <= {row.step for row in proof.rows}


@pytest.mark.parametrize("task", ["same", "induction"])
def test_the_pass_that_is_trained_is_the_pass_of_a_trace(task: str) -> None:
    snapshot = taught(task, 0)[-1]
    words = torch.tensor([[3, 5, 3, 2, 4], [1, 1, 8, 7, 1]])
    source = snapshot.model.source
    assert isinstance(source, Checkpoint)
    together = logits(words, source.config, source.tensors)
    for row, sentence in zip(together, words.tolist(), strict=True):
        alone = trace(snapshot.model, as_text(tuple(sentence))).logits(range(5))
        torch.testing.assert_close(row, alone, atol=1e-5, rtol=1e-5)


def test_gradients_reach_every_tensor_that_can_matter() -> None:
    """With one segment and no unknown word, only those rows and the softmax-blind key bias get none."""
    source = untrained(plan("same")).source
    assert isinstance(source, Checkpoint)
    tensors = {name: tensor.clone().requires_grad_() for name, tensor in source.tensors.items()}
    logits(torch.tensor([[1, 2, 1, 3, 4, 5, 6, 7]]), source.config, tensors).square().sum().backward()
    without = {name for name, tensor in tensors.items() if tensor.grad is None or tensor.grad.abs().max() < 1e-3}
    assert {name.split(".")[-2] for name in without} <= {"key"}


def test_the_same_plan_gives_the_same_numbers_and_another_seed_others() -> None:
    one, again, other = (take(plan("previous", seed), 40) for seed in (0, 0, 1))
    assert [(s.step, s.loss, s.accuracy) for s in one] == [(s.step, s.loss, s.accuracy) for s in again]
    sums = [run[-1].model.weights.layers[0].w_q.sum().item() for run in (one, again, other)]
    assert sums[0] == sums[1] != sums[2]


def test_nothing_outside_is_drawn_from_or_left_behind() -> None:
    state = torch.random.get_rng_state()
    snapshots = take(plan("majority"), 60)
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.is_grad_enabled()
    assert not any(tensor.requires_grad for s in snapshots for tensor in s.model.source.tensors.values())  # type: ignore[union-attr]
    # A later step does not change what an earlier snapshot holds.
    first = untrained(plan("majority")).weights.layers[0].w_q
    assert torch.equal(snapshots[0].model.weights.layers[0].w_q, first)


def test_loss_before_training_is_that_of_the_untrained_model() -> None:
    snapshot = taught("previous", 0)[0]
    losses = []
    for words in generate(8, 8, 200, seed=5).sentences:
        scores = trace(snapshot.model, as_text(words)).logits(range(len(words))).log_softmax(-1)
        losses += [-scores[i, words[i - 1]].item() for i in range(1, len(words))]
    assert snapshot.loss == pytest.approx(float(np.mean(losses)), rel=0.1)
    assert snapshot.loss > math.log(8) * 0.9


def test_chance_is_the_commonest_answer() -> None:
    assert chance(plan("previous")) == pytest.approx(1 / 8, abs=0.03)
    # Of n words drawn from 8, one occurs again with probability 1 - (7/8)^(n-1); half of all places are above that.
    again = np.concatenate([np.full(n, 1 - (7 / 8) ** (n - 1)) for n in range(2, 9)]).mean()
    assert chance(plan("same")) == pytest.approx(max(again, 1 - again), abs=0.05)


def test_a_run_keeps_the_curve_and_twelve_toys() -> None:
    wanted = plan("previous")
    template = taught("previous", 0)[0]
    snapshots = [
        Snapshot(wanted, round(wanted.steps * i / 20), 1.0 - i / 40, i / 20, template.model) for i in range(21)
    ]
    run: TrainingRun = begin(snapshots[0])
    for snapshot in snapshots[1:8]:
        run = run.then(snapshot)
    assert [stage.step for stage in run.stages] == [*range(0, 121, 20), 140]  # those kept, and the latest
    for snapshot in snapshots[8:]:
        run = run.then(snapshot)
    assert [stage.step for stage in run.stages] == [*range(0, 121, 20), 160, 200, 260, 320, 400] and len(run.kept) == 12
    assert run.latest.finished
    assert len(run.curve) == 21
    assert run.curve[0] == (0, 1.0, 0.0)
    assert run.curve[-1] == (400, 0.5, 1.0)


def test_names_say_what_was_done() -> None:
    stages = taught("previous", 0)
    assert stages[0].model.id == "toy-untrained (copy previous, seed 0)"
    assert stages[1].model.id == "toy-trained (copy previous, seed 0, step 20 of 400)"
    done = Snapshot(plan("previous"), 400, 0, 1, stages[0].model)
    assert done.finished


@pytest.mark.parametrize(
    "wrong", [{"layers": 0}, {"layers": 3}, {"vocabulary": 1}, {"max_length": 33}, {"seed": -1}, {"heads": 0}]
)
def test_settings_out_of_bounds_are_named(wrong: dict[str, int]) -> None:
    settings = {"layers": 1, "vocabulary": 8, "max_length": 8, "seed": 0} | wrong
    with pytest.raises(SettingError, match=next(iter(wrong))):
        Plan("same", **settings)


@pytest.mark.parametrize(
    ("task", "vocabulary", "length"),
    [*((task, *size) for task in BARS for size in ((2, 2), (50, 32))), ("same", 2, 32), ("same", 50, 2)],
)
def test_every_corner_of_the_settings_trains(task: str, vocabulary: int, length: int) -> None:
    snapshots = take(Plan(task, 2, vocabulary, length, seed=3), 20)
    assert all(math.isfinite(snapshot.loss) for snapshot in snapshots)
