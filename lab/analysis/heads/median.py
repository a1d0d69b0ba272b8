"""Find the median of very many numbers by sorting only a few numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Up to this many numbers, partitioning all of them is the fastest way.
_FEW = 4096
_SAMPLE = 4096


def median(values: NDArray[np.float32]) -> float:
    """Return the exact median of (c,) numbers; for an even count, the mean of the middle two.

    A sample gives a bracket for the median, two comparisons for each number count the numbers outside the bracket, and
    only the numbers inside are partitioned (Floyd & Rivest 1975, "Expected time bounds for selection"). If the median
    is outside the bracket, all numbers are partitioned.
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
    """Return a lower and an upper bound that very likely enclose the median."""
    # An odd step, because an even step could hit the same columns of an attention matrix in every row.
    sample = values[:: (len(values) // _SAMPLE) | 1]
    rank = len(sample) // 2
    slack = 2 * math.isqrt(len(sample))  # four standard deviations of the sample median's rank
    ordered = np.partition(sample, [rank - slack, rank + slack])
    return ordered[rank - slack], ordered[rank + slack]
