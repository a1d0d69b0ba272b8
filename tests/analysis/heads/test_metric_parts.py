"""The parts of the six metrics: they add up to the metrics, and rows and curves are what loops give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.metric_parts import (
    LENGTHS,
    contrast,
    entropy_of_row,
    metric_parts,
    uniform_by_length,
)
from lab.analysis.heads.metrics import attention_metrics
from lab.analysis.heads.values import keep_others, places_left_out
from tests.analysis.matrices import Case, cases
from tests.conftest import TinyCheckpoint


@given(cases(), st.sampled_from([0.01, 0.1, 0.4]))
def test_parts_make_the_metrics(case: Case, threshold: float) -> None:
    attention, causal = case
    found = attention_metrics(attention, causal=causal, threshold=threshold)
    for head, weights in enumerate(attention):
        parts = metric_parts(weights, causal=causal, threshold=threshold)
        raw = [
            weights[parts.top],
            parts.largest.mean(),
            parts.entropy.sum(),
            parts.below / parts.count,
            parts.middle,
            math.sqrt(parts.squares / parts.count),
        ]
        np.testing.assert_allclose([v[head] for v in found.raw.values()], raw, rtol=1e-4, atol=2e-6)
        corrected = [parts.below_even / parts.count, parts.middle_scaled, math.sqrt(parts.squares_scaled / parts.count)]
        six = [v[head] for v in found.corrected.values()]
        np.testing.assert_allclose(six[3:], corrected, rtol=1e-4, atol=2e-6)
        if parts.free_top is None:
            assert np.isnan(six[:3]).all()
            continue
        free = parts.lengths > 1
        mended = [weights[parts.free_top], parts.largest[free].mean(), parts.even_spread().mean()]
        np.testing.assert_allclose(six[:3], mended, rtol=1e-4, atol=2e-6)
        assert free[parts.free_top[0]]


def test_the_entropy_of_a_row_by_hand() -> None:
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.25, 0.25]], dtype=np.float32)
    row = entropy_of_row(weights, 2, causal=True)
    assert row.terms.tolist() == pytest.approx([0.5 * math.log(2), 0.5 * math.log(2), 0.5 * math.log(2)])
    assert row.total == pytest.approx(1.5 * math.log(2))
    assert row.keys == pytest.approx(2**1.5)
    assert row.largest == math.log(3)
    assert entropy_of_row(weights, 0, causal=True).weights.tolist() == [1]
    whole = entropy_of_row(weights, 0, causal=False)
    assert (whole.total, len(whole.weights)) == (0, 3)


@pytest.mark.parametrize("causal", [False, True])
def test_a_uniform_head_drifts_raw_and_stays_corrected(causal: bool) -> None:
    found = uniform_by_length(causal, 0.01)
    n = np.array(LENGTHS)
    assert (n[0], n[-1]) == (4, 512)
    entropy = [math.lgamma(k + 1) if causal else k * math.log(k) for k in LENGTHS]
    np.testing.assert_allclose(found.raw["spread"][:, 0], entropy, rtol=1e-4)
    np.testing.assert_allclose(found.corrected["spread"][:, 0], 1, rtol=1e-5)
    np.testing.assert_allclose(found.corrected["distribution"][:, 0], 1, rtol=1e-5)
    np.testing.assert_allclose(found.corrected["sparsity"][:, 0], 0)
    if not causal:
        assert found.raw["sparsity"][:, 0].tolist() == [float(k > 100) for k in LENGTHS]


def test_contrast_is_the_farthest_other_head() -> None:
    assert contrast(np.array([0.5, 0.9, 0.2]), 0) == 1
    assert contrast(np.array([0.5, 0.9, 0.2]), 1) == 2
    assert contrast(np.array([0.5]), 0) is None
    assert contrast(np.array([0.5, math.nan]), 0) is None


def test_what_is_left_out(tiny_checkpoint: TinyCheckpoint) -> None:
    bert = lab.trace(lab.load_model(tiny_checkpoint("bert")), "The cat sat.", "It ran.")
    out, special = places_left_out(bert)
    assert special and [bert.tokens[i] for i in np.flatnonzero(out)] == ["[CLS]", "[SEP]", "[SEP]"]
    gpt2 = lab.load_model(tiny_checkpoint("gpt2"))
    out, special = places_left_out(lab.trace(gpt2, "The cat sat."))
    assert not special and np.flatnonzero(out).tolist() == [0]
    one = lab.trace(gpt2, "a")
    assert len(one) > 1 or keep_others(one) is None
