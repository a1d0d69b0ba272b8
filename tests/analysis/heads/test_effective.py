"""A head without preference on longer texts, and what a measurement leaves out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lab
from lab.analysis.heads.metrics import LENGTHS, uniform_by_length
from lab.analysis.heads.values import keep_others, places_left_out
from tests.conftest import TinyCheckpoint


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


def test_what_is_left_out(tiny_checkpoint: TinyCheckpoint) -> None:
    bert = lab.trace(lab.load_model(tiny_checkpoint("bert")), "The cat sat.", "It ran.")
    out, special = places_left_out(bert)
    assert special and [bert.tokens[i] for i in np.flatnonzero(out)] == ["[CLS]", "[SEP]", "[SEP]"]
    gpt2 = lab.load_model(tiny_checkpoint("gpt2"))
    out, special = places_left_out(lab.trace(gpt2, "The cat sat."))
    assert not special and np.flatnonzero(out).tolist() == [0]
    one = lab.trace(gpt2, "a")
    assert len(one) > 1 or keep_others(one) is None
