"""A uniform head by the length of the text, and one row's entropy: by formulas worked by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.analysis.heads.effective import entropy_of_row
from lab.analysis.heads.metrics import LENGTHS
from lab.lessons.attention_metrics import by_hand, limits
from lab.models.trace import Trace


@pytest.mark.parametrize("causal", [False, True])
def test_the_raw_entropy_of_a_uniform_head_grows_with_the_text(causal: bool) -> None:
    """n rows of ln n each, or ln 1 + … + ln n in a causal model; corrected, it is 1 at every length."""
    raw = [sum(np.log(at) for at in range(1, n + 1)) if causal else n * np.log(n) for n in LENGTHS]
    told = limits.said(causal, "spread", 0.01)
    assert f"from {raw[0]:.4g} with {LENGTHS[0]} tokens to {raw[-1]:.4g} with {LENGTHS[-1]}" in told
    assert "The corrected value is 1 at every length" in told


def test_a_row_is_as_uncertain_as_told(trace: Trace, maps: NDArray[np.float64]) -> None:
    query, weights = len(trace) - 1, maps[0, 0]
    row = entropy_of_row(weights.astype(np.float32), query, causal=trace.model.config.causal)
    own = weights[query]
    entropy = float(-(own[own > 0] * np.log(own[own > 0])).sum())
    told = by_hand.said(trace, query, row)
    assert re.search(rf"The effective number of its row is {np.exp(entropy):.1f},", told)
    assert f"{entropy / np.log(len(own)):.0%}" in told
