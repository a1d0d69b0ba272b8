"""The numbers inside the six metrics of one head, for whoever wants to follow the arithmetic.

:mod:`lab.analysis.heads.metrics` computes the metrics of all heads at once; here one head is taken apart, so
that a formula can be filled in with what it adds up, counts and compares.
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
    """What the six metrics of one head are made of.

    Attributes
    ----------
    lengths
        (n,), how many keys each query may see.
    largest
        (n,), the largest weight of each row.
    entropy
        (n,), of each row, in nats.
    top
        Query and key of the largest weight of all, from 0.
    free_top
        The same among rows with more than one key; None where no row has a choice.
    count
        How many cells there are.
    below
        How many of them are below the threshold.
    below_even
        How many are below 1/(row length).
    middle, middle_scaled
        The medians of A and of ℓA.
    squares, squares_scaled
        Σ (A − mean)² and Σ (ℓA − 1)² over the cells.
    mean
        The mean of A over the cells; that of ℓA is 1.
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
        """Entropy over its maximum, ln ℓ, of each row that has more than one key."""
        free = self.lengths > 1
        return np.asarray(self.entropy[free] / np.log(self.lengths[free]))


def metric_parts(weights: Weights, *, causal: bool, threshold: float) -> MetricParts:
    """Take one head apart: ``weights`` (n, n), rows sum to 1; ``threshold`` is τ."""
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
        (ℓ,), their natural logarithms; 0 where the weight is 0, which adds nothing.
    terms
        (ℓ,), −A ln A.
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
        """ln ℓ, the entropy of a row that is spread evenly."""
        return math.log(len(self.weights))

    @property
    def keys(self) -> float:
        """e^H: a row spread evenly over so many keys would have this entropy (its perplexity)."""
        return math.exp(self.total)


def entropy_of_row(weights: Weights, query: int, *, causal: bool) -> RowEntropy:
    """Write out the entropy of row ``query`` of one head, (n, n)."""
    seen = weights[query, : query + 1 if causal else None].astype(np.float64)
    logarithms = np.log(np.where(seen > 0, seen, 1))
    return RowEntropy(seen, logarithms, np.abs(seen * logarithms))


@lru_cache(maxsize=16)
def uniform_by_length(causal: bool, threshold: float) -> Metrics:
    """The metrics of a head without preference at each of :data:`LENGTHS`, arrays (len(LENGTHS), 1)."""
    return stack([uniform_metrics(n, causal, threshold=threshold) for n in LENGTHS])


def contrast(values: Values, head: int) -> int | None:
    """The head whose value is farthest from that of ``head``, (H,); None if there is no other or no value."""
    others = [other for other in range(len(values)) if other != head]
    if not others or not np.isfinite(values).all():
        return None
    return max(others, key=lambda other: abs(float(values[other] - values[head])))
