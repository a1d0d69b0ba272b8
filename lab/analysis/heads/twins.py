"""Compare the attention of a trained model with its twin's, which has random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lab.analysis.heads.values import Values, as_heads, even_spread, is_causal, row_entropy, row_lengths
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace


def layer_spread(trace: Trace, layer: int) -> Values:
    """Return the evenness of each head's attention in a layer, (H,): mean over rows of entropy / ln(row length).

    0 means that every row looks at one key. 1 means that every row gives all its keys equal weights. Rows with a single
    key are left out; nan if there are no other rows.
    """
    entropy = row_entropy(as_heads(trace.layer(layer).attention))
    return even_spread(entropy, row_lengths(len(trace), is_causal(trace)))


@once
def head_spread(trace: Trace) -> Values:
    """Return the evenness of each head's attention in every layer, (L, H); see :func:`layer_spread`."""
    return np.stack([layer_spread(trace, layer) for layer in range(trace.model.config.layers)])


def attention_moved(first: ArrayLike, second: ArrayLike) -> float:
    """Return the share of attention that two maps, both (n, n), place differently, as a mean over rows.

    For each row, half the sum of |difference| (total variation): 0 for equal rows, 1 for rows that share no key.
    """
    difference = np.abs(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
    return float(difference.sum(axis=-1).mean() / 2)
