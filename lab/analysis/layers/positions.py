"""Positions of tokens as vectors: sinusoids (Vaswani et al. 2017, §3.5), learned rows, and one word in three ways:

Positions and dimensions count from 0 here, as in the paper. Dimensions come in pairs: pair i is a sine in
dimension 2i and a cosine in dimension 2i + 1, both of the frequency ω_i = base^(-2i/d). Low dimensions turn
fast, high ones slowly.

learned    x + E[p]: the model's own sum, without segment and LayerNorm (Devlin et al. 2019, figure 2)
sinusoids  √d · x + PE(p) (Vaswani et al. 2017, §3.4 and 3.5)
rotary     R(p) · x, as :func:`lab.models.forward.rotate` turns queries and keys (Su et al. 2021, §3.2.2)

Here x is a row of the token table, in the place of a query or a key. Positions count from 0.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from lab.analysis.layers.embeddings import position_rows
from lab.models import forward
from lab.models.memo import once
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


Way = Literal["learned", "sinusoids", "rotary"]


def ways(trace: Trace) -> tuple[Way, ...]:
    """Return the ways that can be compared in this model; a model without a table of positions has only two."""
    computed: tuple[Way, ...] = ("sinusoids", "rotary")
    return computed if trace.model.weights.embeddings.position is None else ("learned", *computed)


def turned(vector: Values, count: int, base: float) -> Values:
    """``vector`` (d,) rotated for positions 0 to ``count`` - 1, (count, d or d + 1); an odd width gets one more 0."""
    rows = torch.tensor(np.pad(vector, (0, len(vector) % 2))).expand(count, -1)
    found: Values = forward.rotate(rows, base).numpy()
    return found


def placed(trace: Trace, token: int, way: Way, count: int, base: float) -> Values:
    """Return the vectors for the word of ``token`` at the positions 0 to ``count`` - 1, (count, d).

    Raises ValueError for "learned" if the model's table has fewer than ``count`` rows.
    """
    vector = trace.embeddings.token[token].numpy().astype(np.float64)
    if way == "rotary":
        return turned(vector, count, base)
    if way == "learned":
        rows = position_rows(trace.model, count)
        if len(rows) < count:
            raise ValueError(f"{trace.model.id} has learned {len(rows)} positions, not {count}.")
        found: Values = vector + rows
        return found
    width = len(vector) + len(vector) % 2
    return math.sqrt(width) * np.pad(vector, (0, len(vector) % 2)) + sinusoids(np.arange(count), width, base)


def cosines(trace: Trace, tokens: tuple[int, int], way: Way, count: int, base: float) -> Values:
    """Return the cosines between the first of ``tokens`` at position p and the second at position r, (count, count)."""
    first, second = (placed(trace, token, way, count, base) for token in tokens)
    return similarity(np.concatenate([first, second]))[: len(first), len(first) :]


def by_offset(pairs: Values) -> tuple[Values, Values]:
    """Least and largest value of ``pairs`` (P, P) at each offset r - p from -(P - 1) to P - 1, each (2P - 1,).

    The least and the largest are equal if the value depends only on the offset.
    """
    diagonals = [np.diagonal(pairs, offset) for offset in range(1 - len(pairs), len(pairs))]
    return np.array([each.min() for each in diagonals]), np.array([each.max() for each in diagonals])
