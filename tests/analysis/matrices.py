"""Attention made for tests: random, peaked, uniform; rows sum to 1."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Weights = NDArray[np.float32]
Case = tuple[Weights, bool]


def random_attention(seed: int, heads: int, n: int, causal: bool, sharpness: float = 2) -> Weights:
    """(heads, n, n), the softmax of normal scores."""
    scores = np.random.default_rng(seed).normal(size=(heads, n, n)) * sharpness
    if causal:
        scores[:, np.triu(np.ones((n, n), dtype=bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


@st.composite
def cases(draw: st.DrawFn, most: int = 12) -> Case:
    """Random attention of some size and sharpness, and whether it is causal."""
    causal, seed = draw(st.booleans()), draw(st.integers(0, 1000))
    sharpness = draw(st.sampled_from([0.0, 0.5, 3.0, 30.0]))
    return random_attention(seed, draw(st.integers(1, 4)), draw(st.integers(1, most)), causal, sharpness), causal
