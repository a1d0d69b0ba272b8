"""Each head off, against Hugging Face's module with that head's rows of W_O set to 0."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.switched_off import each_head_off, longest, moved, multiplications
from lab.analysis.words.in_blank import preferred
from lab.models.interventions import Interventions
from lab.models.trace import changed
from tests.checkpoints import HEADS, LAYERS, Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import HEAD_WIDTH, SENTENCE, load_theirs

PLACE, WORD = 3, 7


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_each_head_off_is_hugging_face_without_it(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    folder = tiny_checkpoint(family)
    trace, theirs = lab.trace(lab.load_model(folder), SENTENCE), load_theirs(folder, family)
    plain = theirs.run(SENTENCE)
    found = each_head_off(trace, PLACE, WORD)
    assert found.probabilities is not None
    assert found.best is not None
    for layer in range(LAYERS):
        for head in range(HEADS):
            cut = theirs.edited()
            cut.projection_inputs(layer)[head * HEAD_WIDTH : (head + 1) * HEAD_WIDTH] = 0
            outputs = cut.run(SENTENCE)
            assert outputs.logits is not None
            probabilities = outputs.logits[PLACE].double().softmax(0)
            assert found.probabilities[layer, head] == pytest.approx(probabilities[WORD].item(), abs=1e-5)
            assert found.best[layer, head] == probabilities.argmax().item()
            # Hugging Face's last hidden state of GPT-2 has been through the final LayerNorm; ours has not.
            if family != "gpt2":
                gap = (outputs.hidden_states[-1] - plain.hidden_states[-1]).norm(dim=-1)
                share = gap / plain.hidden_states[-1].norm(dim=-1)
                assert found.moved[layer, head] == pytest.approx(share.mean().item(), abs=1e-4)


def test_the_mean_is_another_ablation(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint("bert")), SENTENCE)
    zero, mean = each_head_off(trace, PLACE, WORD), each_head_off(trace, PLACE, WORD, to_mean=True)
    assert zero.probabilities is not None and zero.probabilities.flags.owndata, "it holds no other word's"
    assert not np.allclose(zero.moved, mean.moved, atol=1e-3)
    alone = changed(trace, Interventions(mean_heads=frozenset({(1, 2)})))
    assert mean.moved[1, 2] == pytest.approx(moved(trace.hidden_states, alone.hidden_states)[-1].mean(), abs=1e-5)


def test_without_a_place_only_the_vectors_are_measured(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint("bert-headless")), SENTENCE)
    found = each_head_off(trace, None, None)
    assert found.probabilities is None
    assert found.best is None
    assert found.moved.shape == (LAYERS, HEADS)


def test_moved_is_a_share_of_the_length() -> None:
    plain, after = torch.tensor([[3.0, 4.0], [0.0, 2.0]]), torch.tensor([[3.0, 3.0], [0.0, 2.0]])
    assert moved(plain, after).tolist() == pytest.approx([0.2, 0.0])


def test_work_and_memory_are_estimated_by_hand(tiny_checkpoint: TinyCheckpoint) -> None:
    config = lab.load_model(tiny_checkpoint("bert")).config  # 2 layers of 4 heads, 32 wide, inner width 64
    one_layer = 10 * (4 * 32 * 32 + 2 * 32 * 64) + 2 * 10 * 10 * 32
    # Four heads of the first layer repeat two layers, four of the second one.
    assert multiplications(config, 10) == (4 * 2 + 4 * 1) * one_layer
    assert longest(config, 2 * 4 * 32 * 100) == 100


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_preference_is_the_share_of_two_probabilities(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint(family)), SENTENCE)
    found = preferred(trace, PLACE, (WORD, WORD + 1))
    first, second = (each_head_off(trace, PLACE, word).probabilities for word in (WORD, WORD + 1))
    assert first is not None and second is not None
    np.testing.assert_allclose(found.off, first / (first + second), atol=1e-6)
    plain = trace.logits(PLACE)[0].double().softmax(0)[[WORD, WORD + 1]]
    assert found.before == pytest.approx((plain[0] / plain.sum()).item(), abs=1e-6)
    headless = lab.trace(lab.load_model(tiny_checkpoint("bert-headless")), SENTENCE)
    with pytest.raises(ValueError, match="vocabulary head"):
        preferred(headless, PLACE, (WORD, WORD + 1))
