"""The written-out row against the trace and against Hugging Face's attention."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.one_row import attention_map, attention_row, heaviest, window
from lab.analysis.heads.query_neurons import neuron_row
from lab.models.interventions import Interventions
from lab.models.tensor_index import tensor
from tests.checkpoints import Family, write_checkpoint
from tests.models.folders import change_config
from tests.sentences import CAT


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_written_out_softmax_is_the_weight_on_the_map(family: Family, tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / family, family, seed=1))
    trace = lab.trace(model, CAT)
    theirs = tensor(trace, "pipeline_attns")[1][2].numpy()  # type: ignore[index]
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


@given(st.integers(1, 600), st.integers(1, 100), st.data())
def test_window_holds_the_position_and_never_leaves_the_text(n: int, most: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, n - 1))
    part = window(position, n, most)
    assert part.start <= position < part.stop
    assert 0 <= part.start < part.stop <= n
    assert part.stop - part.start == min(n, most)


def test_heaviest_keeps_the_chosen_key_and_the_order_of_the_text() -> None:
    weights = np.array([0.1, 0.4, 0.05, 0.3, 0.15], dtype=np.float32)
    assert heaviest(weights, 2, 3) == [1, 2, 3]
    assert heaviest(weights, 1, 99) == [0, 1, 2, 3, 4]


def test_a_row_of_a_model_that_does_not_divide_its_scores(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "gpt2", "gpt2", seed=1)
    change_config(folder, scale_attn_weights=False)
    trace = lab.trace(lab.load_model(folder), CAT)
    theirs = tensor(trace, "pipeline_attns")[1][2].numpy()  # type: ignore[index]
    for query in range(len(trace)):
        row, neurons = attention_row(trace.layer(1), 2, query), neuron_row(trace, 1, 2, query)
        np.testing.assert_allclose(row.weights, theirs[query], atol=1e-5)
        np.testing.assert_array_equal(row.weights, neurons.weights)
        np.testing.assert_array_equal(row.scaled[: query + 1], row.scores[: query + 1])


@pytest.mark.parametrize("changes", [Interventions(no_scaling=True), Interventions(no_causal_mask=True)])
def test_a_row_of_a_changed_run_is_the_runs(changes: Interventions, tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / "gpt2", "gpt2", seed=1))
    layer = lab.trace(model, "The cat sat on the mat.", interventions=changes).layer(1)
    row = attention_row(layer, 1, 2)
    np.testing.assert_allclose(row.exponentials / row.total, row.weights, atol=1e-5)
    np.testing.assert_array_equal(row.weights, layer.attention[1, 2].numpy())
