"""One row of one head's attention, written out: scores, scaling, softmax, weighted sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lab.models.layer_trace import LayerTrace


Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class AttentionRow:
    """The attention of one query in one head, step by step.

    query                     (d_k,)
    keys, values              (n, d_k)
    products                  (n, d_k), query times key, dimension by dimension
    scores                    (n,), the sums of the products
    scaled                    (n,), the scores as they enter the softmax: divided by √d_k, if the model and the run
                              divide; -inf where masked
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
    exponentials: NDArray[np.float64]
    weights: Array
    weighted_values: Array
    context: Array

    @property
    def total(self) -> float:
        """The sum of the exponentials, which is the divisor of the softmax."""
        return float(self.exponentials.sum())


def attention_row(layer: LayerTrace, head: int, query: int) -> AttentionRow:
    """Write out row ``query`` of ``head``, from the steps of its layer (Vaswani et al. 2017, eq. 1).

    The numbers are the run's own, so a row shows what the model computes, whether or not it divides its scores.
    """
    q, k, v = (np.asarray(t[head]) for t in (layer.query, layer.key, layer.value))
    scores, scaled, weights = (np.asarray(t[head, query]) for t in (layer.scores, layer.scaled_scores, layer.attention))
    return AttentionRow(
        query=q[query],
        keys=k,
        values=v,
        products=q[query] * k,
        scores=scores,
        scaled=scaled,
        exponentials=np.exp(scaled.astype(np.float64)),
        weights=weights,
        weighted_values=weights[:, None] * v,
        context=np.asarray(layer.context[head, query]),
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


def undivided(row: AttentionRow) -> NDArray[np.float64]:
    """Return the softmax of the scores without the division, (n,); masked keys keep the weight 0."""
    scores = np.where(np.isneginf(row.scaled), -np.inf, row.scores).astype(np.float64)
    exponentials = np.exp(scores - scores.max())
    weights: NDArray[np.float64] = exponentials / exponentials.sum()
    return weights
