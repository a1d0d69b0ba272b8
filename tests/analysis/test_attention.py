"""The written-out row against the trace and against Hugging Face's attention."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

import lab
from lab.analysis.attention import attention_map, attention_row
from lab.analysis.worked import worked_example
from tests.checkpoints import Family, write_checkpoint


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_written_out_softmax_is_the_weight_on_the_map(family: Family, tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / family, family, seed=1))
    trace = lab.trace(model, "The cat sat on the mat because it was tired.")
    theirs = trace["pipeline_attns"][1][2].numpy()  # type: ignore[index]
    layer = trace.layer(1)
    for query in range(len(trace)):
        row = attention_row(layer, 2, query)
        np.testing.assert_allclose(row.weights, theirs[query], atol=1e-5)
        np.testing.assert_allclose(row.products.sum(1), np.asarray(layer.scores[2, query]), atol=1e-4)
        np.testing.assert_allclose(row.context, np.asarray(layer.context[2, query]), atol=1e-5)
        assert row.weights.sum() == pytest.approx(1, abs=1e-5)
        assert row.total == pytest.approx(sum(math.exp(s) for s in row.scaled), rel=1e-5)


def test_masked_keys_get_nothing(tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / "gpt2", "gpt2", seed=1))
    trace = lab.trace(model, "The cat sat on the mat.")
    row = attention_row(trace.layer(0), 0, 2)
    assert np.isneginf(row.scaled[3:]).all()
    assert (row.weights[3:] == 0).all()
    assert (attention_map(trace.layer(0), 0)[np.triu_indices(len(trace), 1)] == 0).all()


def test_worked_example_by_hand() -> None:
    example = worked_example()
    assert example.scores.tolist() == [[2, 0, 2], [0, 2, 2], [1, 1, 2]]
    e = math.exp(2 / math.sqrt(2))
    assert example.weights[0].tolist() == pytest.approx([e / (2 * e + 1), 1 / (2 * e + 1), e / (2 * e + 1)])
    torch.testing.assert_close(example.context, example.weights @ example.value)
