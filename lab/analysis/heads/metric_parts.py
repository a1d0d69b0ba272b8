"""The numbers inside the six metrics of one head, for readers who want to follow the arithmetic.

:mod:`lab.analysis.heads.metrics` computes the metrics of all heads at once. This module computes the intermediate
numbers of one head, with which a page fills in the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.metrics import ROUNDING, Metrics, uniform_metrics
from lab.analysis.heads.values import (
    Values,
    Weights,
    row_entropy,
    row_lengths,
    stack,
)

if TYPE_CHECKING:
    pass
LENGTHS = tuple(sorted({round(4 * 2 ** (step / 5)) for step in range(36)}))


@dataclass(frozen=True, eq=False)
class MetricParts:
    """The numbers from which the six metrics of one head are computed.

    Attributes
    ----------
    lengths
        (n,), the number of keys that each query may see.
    largest
        (n,), the largest weight of each row.
    entropy
        (n,), the entropy of each row, in nats.
    top
        Query and key of the largest weight of all, from 0.
    free_top
        Query and key of the largest weight among rows with more than one key; None if there are no such rows.
    count
        The number of cells.
    below
        The number of cells below the threshold.
    below_even
        The number of cells below 1/(row length).
    middle, middle_scaled
        The medians of A and of ℓA.
    squares, squares_scaled
        Σ (A − mean)² and Σ (ℓA − 1)² over the cells.
    mean
        The mean of A over the cells; the mean of ℓA is 1.
    """

    lengths: NDArray[np.int64]
    largest: Weights
    entropy: Weights
    top: tuple[int, int]
    free_top: tuple[int, int] | None
    count: int
    below: int
    below_even: int
    middle: float
    middle_scaled: float
    squares: float
    squares_scaled: float
    mean: float

    def even_spread(self) -> Values:
        """Return the entropy of each row with more than one key, divided by its maximum, ln ℓ."""
        free = self.lengths > 1
        return np.asarray(self.entropy[free] / np.log(self.lengths[free]))


def metric_parts(weights: Weights, *, causal: bool, threshold: float) -> MetricParts:
    """Compute the parts for one head; the rows of ``weights`` (n, n) sum to 1, and ``threshold`` is τ."""
    n = len(weights)
    lengths = row_lengths(n, causal)
    real = np.tri(n, dtype=np.bool_) if causal else np.ones((n, n), dtype=np.bool_)
    cells = weights[real].astype(np.float64)
    scaled = (weights * lengths[:, None])[real].astype(np.float64)
    free = np.flatnonzero(lengths > 1)
    return MetricParts(
        lengths=lengths,
        largest=weights.max(axis=-1),
        entropy=row_entropy(weights[None])[0],
        top=_top(weights),
        free_top=None if not len(free) else _below_row(_top(weights[free[0] :]), int(free[0])),
        count=len(cells),
        below=int(np.count_nonzero(cells.astype(np.float32) < np.float32(threshold))),
        below_even=int(np.count_nonzero(scaled < 1 - ROUNDING)),
        middle=float(np.median(cells)),
        middle_scaled=float(np.median(scaled)),
        squares=float(((cells - cells.mean()) ** 2).sum()),
        squares_scaled=float(((scaled - scaled.mean()) ** 2).sum()),
        mean=float(cells.mean()),
    )


def _top(weights: Weights) -> tuple[int, int]:
    query, key = divmod(int(weights.argmax()), weights.shape[1])
    return query, key


def _below_row(place: tuple[int, int], rows: int) -> tuple[int, int]:
    return place[0] + rows, place[1]


@dataclass(frozen=True, eq=False)
class RowEntropy:
    """The entropy of one row, term by term.

    Attributes
    ----------
    weights
        (ℓ,), the weights of the keys that the query may see.
    logarithms
        (ℓ,), the natural logarithms of the weights; 0 for a weight of 0, whose term is 0.
    terms
        (ℓ,), the terms −A ln A.
    """

    weights: Values
    logarithms: Values
    terms: Values

    @property
    def total(self) -> float:
        """The entropy in nats."""
        return float(self.terms.sum())

    @property
    def largest(self) -> float:
        """The largest possible entropy, ln ℓ, of a row that is spread evenly."""
        return math.log(len(self.weights))

    @property
    def keys(self) -> float:
        """The perplexity e^H: the number of keys over which an evenly spread row would have this entropy."""
        return math.exp(self.total)


def entropy_of_row(weights: Weights, query: int, *, causal: bool) -> RowEntropy:
    """Write out the entropy of row ``query`` of one head, (n, n)."""
    seen = weights[query, : query + 1 if causal else None].astype(np.float64)
    logarithms = np.log(np.where(seen > 0, seen, 1))
    return RowEntropy(seen, logarithms, np.abs(seen * logarithms))


@lru_cache(maxsize=16)
def uniform_by_length(causal: bool, threshold: float) -> Metrics:
    """Return the metrics of a head without preference at each of :data:`LENGTHS`, arrays (len(LENGTHS), 1)."""
    return stack([uniform_metrics(n, causal, threshold=threshold) for n in LENGTHS])


def contrast(values: Values, head: int) -> int | None:
    """Return the head whose value differs most from the value of ``head``.

    Returns None if there is no other head or no finite value.
    """
    others = [other for other in range(len(values)) if other != head]
    if not others or not np.isfinite(values).all():
        return None
    return max(others, key=lambda other: abs(float(values[other] - values[head])))
