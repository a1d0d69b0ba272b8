"""A row of attention without the division by √d_k (Vaswani et al. 2017, §3.2.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.attention import AttentionRow


def undivided(row: AttentionRow) -> NDArray[np.float64]:
    """Return the softmax of the scores without the division, (n,); masked keys keep the weight 0."""
    scores = np.where(np.isneginf(row.scaled), -np.inf, row.scores).astype(np.float64)
    exponentials = np.exp(scores - scores.max())
    weights: NDArray[np.float64] = exponentials / exponentials.sum()
    return weights
