"""Gradient importance against Hugging Face's own gradients; pruning orders and curves against runs one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from lab.evidence.competition import differences
from lab.evidence.pairs import AskedPair
from lab.experiments.needed_heads.ablations import without_each_head
from lab.experiments.needed_heads.pruning import at_random, by_importance, curve, greedily, importance, ranked
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel, load_model
from tests.checkpoints import HEADS, LAYERS
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import asked_pairs, ids_of, near
from tests.models.reference import HEAD_WIDTH, Theirs, changed_input

PLACES = {(layer, head) for layer in range(LAYERS) for head in range(HEADS)}


def their_importance(theirs: Theirs, pair: AskedPair) -> Tensor:
    """|∂L/∂ξ| (layers, heads), ξ = 1 a factor before each head (Michel et al. 2019, §4.1)."""
    gates = torch.ones(LAYERS, HEADS, requires_grad=True)

    def gated(layer: int) -> Callable[[Tensor], Tensor]:
        return lambda x: x * gates[layer].repeat_interleave(HEAD_WIDTH)

    with changed_input(theirs.output_projection(0), gated(0)), changed_input(theirs.output_projection(1), gated(1)):
        out = theirs.module(**ids_of(pair))
    logits = out.get("prediction_logits", out.get("logits"))[0, pair.place]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(pair.good))
    return torch.autograd.grad(loss, gates)[0].abs()


def test_importance_is_the_gradient_before_each_head(tiny: LoadedModel, theirs: Theirs) -> None:
    pairs = asked_pairs(tiny)
    found = importance(tiny, pairs)
    for number, pair in enumerate(pairs):
        near(found[..., number], their_importance(theirs, pair), 1e-3 * found.max())


def test_importance_may_be_asked_where_gradients_are_off(tiny: LoadedModel) -> None:
    """As everything is that runs inside a page's analysis."""
    pairs = asked_pairs(tiny)[:2]
    with torch.inference_mode():
        near(importance(tiny, pairs), importance(tiny, pairs), 0)


@pytest.fixture(scope="module")
def bert(tiny_checkpoint: TinyCheckpoint) -> LoadedModel:
    return load_model(tiny_checkpoint("bert"))


def test_orders_by_hand() -> None:
    assert ranked(np.array([[3.0, 1.0], [2.0, 1.0]])) == ((0, 1), (1, 1), (1, 0), (0, 0))
    # Means 3, 4 and 60, 80: divided by their layer's norm, 5 and 100, both are .6, .8; of equal ones the earlier goes.
    each = np.array([[[2.0, 4.0], [4.0, 4.0]], [[60.0, 60.0], [90.0, 70.0]]])
    assert by_importance(each) == ((0, 0), (1, 0), (0, 1), (1, 1))
    assert set(at_random(LAYERS, HEADS, 1)) == PLACES
    assert at_random(LAYERS, HEADS, 1) == at_random(LAYERS, HEADS, 1) != at_random(LAYERS, HEADS, 2)


def test_a_curve_is_its_runs_one_by_one(bert: LoadedModel) -> None:
    pairs, order = asked_pairs(bert), at_random(LAYERS, HEADS, 3)
    found = curve(bert, pairs, order)
    assert found.away.tolist() == list(range(LAYERS * HEADS + 1))
    near(found.difference[0], differences(bert, pairs), 0)
    for count in (1, 5, LAYERS * HEADS):
        away = Interventions(zero_heads=frozenset(order[:count]))
        near(found.difference[count], differences(bert, pairs, away), 0)
    near(found.accuracy, (found.difference > 0).mean(axis=1), 0)
    assert curve(bert, pairs, order, [0, 4]).away.tolist() == [0, 4]


def test_greedy_takes_the_cheapest_head_and_measures_again(bert: LoadedModel) -> None:
    """Each step, done by hand with one run for every head that is left."""
    pairs, expected = asked_pairs(bert), list[Head]()
    while len(expected) < 3:
        left = sorted(PLACES - set(expected))
        means = [
            differences(bert, pairs, Interventions(zero_heads=frozenset({*expected, head}))).mean() for head in left
        ]
        expected.append(left[int(np.argmax(means))])
    told: list[float] = []
    found = greedily(bert, pairs, at_once=1, progress=told.append)
    assert list(found[:3]) == expected
    assert set(found) == PLACES and len(found) == len(PLACES)
    assert told[-1] == 1 and told == sorted(told)
    best = without_each_head(bert, pairs).changed.mean(axis=-1)
    assert found[0] == tuple(int(at) for at in np.unravel_index(best.argmax(), best.shape))
