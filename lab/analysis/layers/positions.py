"""Positions of tokens as vectors: sinusoids (Vaswani et al. 2017, §3.5) and any table of learned rows.

Positions and dimensions count from 0 here, as in the paper. Dimensions come in pairs: pair i is a sine in
dimension 2i and a cosine in dimension 2i + 1, both of the frequency ω_i = base^(-2i/d). Low dimensions turn
fast, high ones slowly.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.analysis.layers.embeddings import position_rows
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

Values = NDArray[np.float64]
Spread = tuple[Values, Values, Values]
Measure = Literal["cosine", "dot product"]

BASE = 10_000.0


def frequencies(width: int, base: float = BASE) -> Values:
    """ω_i = base^(-2i/d) for each pair of dimensions, (d/2,), in radians per position: from 1 down.

    Raises
    ------
    ValueError
        If the width is odd or below 2, or the base is not above 1.
    """
    if width < 2 or width % 2:
        raise ValueError(f"width is {width}; sines and cosines come in pairs, so it must be even and at least 2.")
    if not base > 1:
        raise ValueError(f"base is {base}; it must be above 1, so that the pairs turn at different speeds.")
    return base ** (-2 * np.arange(width // 2) / width)


def wavelengths(width: int, base: float = BASE) -> Values:
    """2π/ω_i, the number of positions in which each pair turns once, (d/2,); from 2π up, below 2π·base.

    The wavelengths are a geometric progression (§3.5). Raises the errors of :func:`frequencies`.
    """
    return 2 * math.pi / frequencies(width, base)


def sinusoids(positions: ArrayLike, width: int, base: float = BASE) -> Values:
    """PE(pos, 2i) = sin(pos·ω_i), PE(pos, 2i+1) = cos(pos·ω_i), (P, d) for ``positions`` (P,) (§3.5).

    Every row has the length √(d/2), as sin² + cos² = 1 in each pair. Raises the errors of :func:`frequencies`.
    """
    angles = np.asarray(positions, dtype=np.float64)[:, None] * frequencies(width, base)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), width)


def similarity(rows: ArrayLike, measure: Measure = "cosine") -> Values:
    """The similarity of every two rows of ``rows`` (P, d), (P, P). A row of zeros has the cosine 0 with all rows."""
    vectors = np.asarray(rows, dtype=np.float64)
    if measure == "cosine":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    product: Values = vectors @ vectors.T
    return product


def by_distance(pairs: ArrayLike) -> Spread:
    """Least, mean and largest value of ``pairs`` (P, P) at each distance |p - q| from 0 to P - 1, each (P,).

    All three values are equal if similarity depends only on the distance.
    """
    matrix = np.asarray(pairs, dtype=np.float64)
    diagonals = [
        np.concatenate([np.diagonal(matrix, distance), np.diagonal(matrix, -distance)])
        for distance in range(len(matrix))
    ]
    least, mean, largest = (np.array([reduce(each) for each in diagonals]) for reduce in (np.min, np.mean, np.max))
    return least, mean, largest


@once
def learned_by_distance(trace: Trace, length: int) -> Spread:
    """Return the cosines between the learned vectors of the first ``length`` positions, by :func:`by_distance`."""
    return by_distance(similarity(position_rows(trace.model, length)))


@lru_cache(maxsize=4)
def sinusoids_by_distance(length: int, width: int, base: float) -> Spread:
    """Return the cosines between the sinusoids of ``length`` positions, by :func:`by_distance`."""
    return by_distance(similarity(sinusoids(np.arange(length), width, base)))


def spaced(count: int, most: int) -> NDArray[np.int64]:
    """Return the first of ``count`` places and every k-th after it, at most ``most``, so that they fit a drawing."""
    return np.arange(0, count, max(1, math.ceil(count / most)))
