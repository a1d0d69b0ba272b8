"""The effective number of keys in a row of attention, e to the row's entropy; and the entropy term by term."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.heads.values import Values, Weights, as_heads, row_entropy

Keys = NDArray[np.float64]


def effective_keys(attention: NDArray[Any] | Tensor) -> Keys:
    """Return the effective number of keys of each query, (H, n, n) maps -> (H, n).

    The number is 1 for a row with all weight on one key, and k for a row spread evenly over k keys.
    """
    return np.exp(row_entropy(as_heads(attention)).astype(np.float64))


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
