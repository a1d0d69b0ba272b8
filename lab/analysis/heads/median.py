"""The median of very many numbers, by looking closely at few of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Below this many numbers one partition is as fast as anything.
_FEW = 4096
_SAMPLE = 4096


def median(values: NDArray[np.float32]) -> float:
    """The exact median of (c,) numbers; of an even count the mean of the middle two.

    A sample brackets the median, two comparisons a number count what lies outside the bracket, and
    only what lies inside is partitioned (Floyd & Rivest 1975, "Expected time bounds for selection").
    Where the bracket misses, everything is partitioned.
    """
    count = len(values)
    lower, upper = (count - 1) // 2, count // 2
    inside, below = values, 0
    if count > _FEW:
        low, high = _bracket(values)
        smaller = int(np.count_nonzero(values < low))
        near = values[(values >= low) & (values <= high)]
        if smaller <= lower and upper < smaller + len(near):
            inside, below = near, smaller
    middle = np.partition(inside, [lower - below, upper - below])
    return (float(middle[lower - below]) + float(middle[upper - below])) / 2


def _bracket(values: NDArray[np.float32]) -> tuple[np.float32, np.float32]:
    """Two numbers between which the median lies, most likely."""
    # An odd step: an even one could meet the same columns of an attention matrix in every row.
    sample = values[:: (len(values) // _SAMPLE) | 1]
    rank = len(sample) // 2
    slack = 2 * math.isqrt(len(sample))  # four standard deviations of the sample median's rank
    ordered = np.partition(sample, [rank - slack, rank + slack])
    return ordered[rank - slack], ordered[rank + slack]
