"""How evenly heads spread their attention, and how far apart two maps are, against loops and known cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lab
from lab.analysis.heads.twins import attention_moved, head_spread, layer_spread
from lab.models.loading import load_model
from lab.models.trace import Trace
from lab.models.twin import random_twin
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import CAT


def spread_by_hand(trace: Trace, layer: int, head: int) -> float:
    """Entropy of each row over the logarithm of its length, row by row, key by key."""
    attention = trace.layer(layer).attention[head].tolist()
    shares = []
    for i, row in enumerate(attention):
        keys = row[: i + 1] if trace.model.config.causal else row
        if len(keys) > 1:
            shares.append(-sum(w * math.log(w) for w in keys if w > 0) / math.log(len(keys)))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_spread_is_that_of_the_rows(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(load_model(tiny_checkpoint(family)), CAT)
    found = head_spread(trace)
    assert found.shape == (2, 4)
    expected = [[spread_by_hand(trace, layer, head) for head in range(4)] for layer in range(2)]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_array_equal(found[1], layer_spread(trace, 1))


def test_one_token_has_no_spread(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(load_model(tiny_checkpoint("gpt2")), "a")
    assert len(trace) == 1
    assert np.isnan(head_spread(trace)).all()


def test_random_weights_spread_attention_more_evenly_than_trained_ones() -> None:
    """Scores of weights drawn at random are near 0, so every row is near its uniform one."""
    model = lab.load_model("lab-bert")
    trained = head_spread(lab.trace(model, CAT))
    for seed in range(3):
        untrained = head_spread(lab.trace(random_twin(model, seed), CAT))
        assert untrained.min() > 0.9
        assert trained.mean() < untrained.mean() - 0.1


def test_attention_moved() -> None:
    eye, even = np.eye(4), np.full((4, 4), 0.25)
    assert attention_moved(eye, eye) == 0
    assert attention_moved(eye, np.roll(eye, 1, axis=1)) == 1
    # A row (1, 0, 0, 0) against four quarters: three quarters stand elsewhere.
    assert attention_moved(eye, even) == attention_moved(even, eye) == pytest.approx(0.75)
