"""One row of one head's attention, written out: scores, scaling, softmax, weighted sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.models.layer_trace import LayerTrace

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class AttentionRow:
    """The attention of one query in one head, step by step.

    query                     (d_k,)
    keys, values              (n, d_k)
    products                  (n, d_k), query times key, dimension by dimension
    scores                    (n,), the sums of the products
    scaled                    (n,), the scores divided by √d_k; -inf where masked
    exponentials, weights     (n,), e to the scaled score, and the exponential's share of the total
    weighted_values           (n, d_k), each value times its weight
    context                   (d_k,), the sum of the weighted values
    """

    query: Array
    keys: Array
    values: Array
    products: Array
    scores: Array
    scaled: Array
    exponentials: Array
    weights: Array
    weighted_values: Array
    context: Array

    @property
    def total(self) -> float:
        """The sum of the exponentials, which is the divisor of the softmax."""
        return float(self.exponentials.sum(dtype=np.float64))


def attention_row(layer: LayerTrace, head: int, query: int) -> AttentionRow:
    """Write out row ``query`` of ``head``, from the head's own q, k and v (Vaswani et al. 2017, eq. 1).

    The row is recomputed with numpy, so that the page's weights come from the written-out softmax; a test compares
    these weights with the trace's weights.
    """
    q, k, v = (np.asarray(t[head]) for t in (layer.query, layer.key, layer.value))
    products = q[query] * k
    scores = products.sum(axis=-1)
    masked = np.isneginf(np.asarray(layer.scaled_scores[head, query]))
    scaled = np.where(masked, -np.inf, scores / math.sqrt(q.shape[-1])).astype(np.float32)
    exponentials = np.exp(scaled.astype(np.float64))
    weights = (exponentials / exponentials.sum()).astype(np.float32)
    weighted = weights[:, None] * v
    return AttentionRow(
        q[query],
        k,
        v,
        products,
        scores,
        scaled,
        exponentials.astype(np.float32),
        weights,
        weighted,
        weighted.sum(0),
    )


def attention_map(layer: LayerTrace, head: int) -> Array:
    """Return the weights of one head, (n, n)."""
    return np.asarray(layer.attention[head])


def window(position: int, n: int, most: int) -> slice:
    """Return up to ``most`` of ``n`` places around ``position``: the part of a long text that fits on a screen."""
    start = max(0, min(position - most // 2, n - most))
    return slice(start, min(n, start + most))


def heaviest(weights: Array, chosen: int, most: int) -> list[int]:
    """Return the ``most`` places with the largest weights, always including ``chosen``, in text order."""
    order = [i for i in np.argsort(-weights, kind="stable").tolist() if i != chosen]
    return sorted([chosen, *order[: most - 1]])
