"""One step of training, against finite differences and the first term of Taylor's series."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from lab.models.loading import Checkpoint
from lab.toy import gradient_step
from lab.toy.gradient_step import RATES, descent, sentences, slope, weight
from lab.toy.rules import RULES
from lab.toy.tasks import IGNORED
from lab.toy.training import Plan, logits, untrained
from tests.thorough import some

PLANS = [Plan(rule.id, layers, 8, 8, seed, 2) for rule in RULES for layers in (1, 2) for seed in (0, 1)]


@pytest.mark.parametrize("plan", some(PLANS, 3), ids=str)
def test_the_gradient_is_the_finite_difference_everywhere_on_the_curve(plan: Plan) -> None:
    found = weight(plan)
    for value in found.at[::8]:
        here = slope(plan, float(value))
        assert here.gradient == pytest.approx(here.difference, abs=2e-3)
    at = int(np.abs(found.at - found.value).argmin())
    assert slope(plan, float(found.at[at])).loss == pytest.approx(found.losses[at], abs=1e-9)


@pytest.mark.parametrize("plan", some(PLANS, 3), ids=str)
def test_the_weight_is_the_steepest_of_its_table_and_no_unknown_letter(plan: Plan) -> None:
    found = weight(plan)
    assert found.row > 0
    own = abs(slope(plan, found.value).gradient)
    table = gradient_step._start(plan).gradient[gradient_step._TABLE][1:].abs()
    assert own == pytest.approx(float(table.max()), rel=1e-6)


@pytest.mark.parametrize("plan", some(PLANS, 3), ids=str)
def test_a_small_step_gains_what_the_gradient_promises(plan: Plan) -> None:
    """L(θ − ηg) ≈ L − η‖g‖² for small η."""
    found = descent(plan)
    gained, promised = found.loss - found.losses[0], RATES[0] * found.length**2
    assert gained == pytest.approx(promised, rel=0.15)
    assert found.losses.min() < found.loss
    assert found.moved(RATES[0]) == pytest.approx(RATES[0] * found.length / found.size)
    start = untrained(plan).source
    assert isinstance(start, Checkpoint)
    assert found.weights == sum(each.numel() for each in start.tensors.values())


def test_the_loss_is_the_cross_entropy_of_the_hidden_letters() -> None:
    plan = PLANS[0]
    start = gradient_step._start(plan)
    given, asked = [], []
    for words, answers in start.batches:
        for sentence, answer in zip(words, answers, strict=True):  # sentence by sentence
            place = int((answer != IGNORED).nonzero())
            scores = logits(sentence[None], start.checkpoint.config, start.tensors)[0, place]
            given.append(scores)
            asked.append(answer[place])
    loss = functional.cross_entropy(torch.stack(given), torch.stack(asked)).item()
    assert start.loss == pytest.approx(loss, abs=1e-9)
    assert sentences(plan) == len(asked)
