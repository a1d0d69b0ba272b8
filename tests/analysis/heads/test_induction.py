"""The induction score against its definition, token by token."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.analysis.heads.induction import induction_score, model_induction, repeated_encoding
from lab.analysis.heads.values import uniform_attention
from lab.models.trace import trace_encoding
from tests.analysis.matrices import random_attention
from tests.checkpoints import write_checkpoint


@pytest.mark.parametrize("period", [2, 5])
def test_score_is_the_weight_on_what_came_next_last_time(period: int) -> None:
    attention = random_attention(1, 3, 2 * period, causal=True)
    expected = [np.mean([head[i, i - period + 1] for i in range(period, 2 * period)]) for head in attention]
    np.testing.assert_allclose(induction_score(attention, period), expected, rtol=1e-6)


def test_a_head_built_for_induction_scores_one_and_a_uniform_one_little() -> None:
    period, attention = 4, np.zeros((1, 8, 8), dtype=np.float32)
    for i in range(8):
        attention[0, i, i - period + 1 if i >= period else 0] = 1
    assert induction_score(attention, period).tolist() == [1]
    expected = np.mean([1 / (i + 1) for i in range(4, 8)])
    assert induction_score(uniform_attention(8, True), period)[0] == pytest.approx(expected)


def test_what_is_no_repetition_or_sees_ahead_is_refused() -> None:
    for n, period in ((8, 3), (2, 1), (8, 5)):
        with pytest.raises(ValueError, match="repeated once"):
            induction_score(uniform_attention(n, True), period)
    with pytest.raises(ValueError, match="causal models"):
        induction_score(uniform_attention(8, False), 4)


def test_a_model_reads_random_tokens_twice(tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / "gpt2", "gpt2", 4))
    encoding = repeated_encoding(model, 6, seed=1)
    assert encoding.token_ids[:6] == encoding.token_ids[6:]
    assert encoding != repeated_encoding(model, 6, seed=2)
    assert "<|endoftext|>" not in encoding.tokens
    found = model_induction(model, 6, seed=1)
    attention = trace_encoding(model, encoding).attention.numpy()
    for layer, head in np.ndindex(found.shape):
        expected = np.mean([attention[layer, head, i, i - 5] for i in range(6, 12)])
        assert found[layer, head] == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="2 to 256"):
        repeated_encoding(model, 257)


def test_a_model_that_sees_everything_has_no_score(tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / "bert", "bert", 4))
    with pytest.raises(ValueError, match="causal models"):
        model_induction(model, 6)
