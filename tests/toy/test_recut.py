"""The same toy with another number of heads: the same numbers, another computation, proven again."""

from __future__ import annotations

import pytest
import torch

import lab
from lab.models.config import CheckpointError
from lab.models.proof import prove
from lab.models.trace import trace
from lab.toy.models import RANDOM, random_toy, recut
from lab.ui.parameters import TOY_HEADS
from tests.conftest import TinyCheckpoint

SENTENCE = "c e b e a"


@pytest.mark.parametrize("heads", [1, 2, 8, 16, 32])
def test_every_cut_holds_the_same_numbers_and_is_proven(heads: int) -> None:
    toy = random_toy(8, 8)
    cut = recut(toy, heads)
    assert cut.config.heads == heads
    assert cut.id == f"{RANDOM}, {heads} heads"
    old, new = toy.weights.layers[0], cut.weights.layers[0]
    for name in ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o"):
        assert torch.equal(getattr(old, name), getattr(new, name))
    run = trace(cut, SENTENCE)
    assert run.layer(0).attention.shape == (heads, 5, 5)
    assert prove(cut, run).first_failure is None
    assert not torch.allclose(run.hidden_states[1], trace(toy, SENTENCE).hidden_states[1], atol=1e-3)


def test_its_own_number_changes_nothing() -> None:
    toy = random_toy(8, 8)
    assert recut(toy, toy.config.heads) is toy


def test_a_number_that_does_not_divide_is_refused() -> None:
    with pytest.raises(CheckpointError):
        recut(random_toy(8, 8), 5)


def test_a_checkpoint_in_a_folder_is_left_alone(tiny_checkpoint: TinyCheckpoint) -> None:
    with pytest.raises(TypeError, match="read from a folder"):
        recut(lab.load_model(tiny_checkpoint("bert")), 2)


def test_the_control_knows_the_toy() -> None:
    """Its default is the toy's own number of heads, its largest one head for each dimension."""
    config = random_toy(8, 8).config
    assert (TOY_HEADS.default, TOY_HEADS.least, TOY_HEADS.most) == (config.heads, 1, config.width)
