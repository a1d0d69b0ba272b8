"""Attention without special tokens, rescaled, and between words: the variants of TransEasy's bertplus.

What is taken away is kept beside what is left: a row that spends its mass on [SEP] has little to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.analysis.words.words import reduce_to_words

Array = NDArray[np.float64]

VARIANTS = ("raw", "nosep", "linscale", "softmax_scale", "reduced")
RAW, NOSEP, LINSCALE, SOFTMAX_SCALE, REDUCED = VARIANTS


@dataclass(frozen=True, eq=False)
class Variant:
    """One head's attention in one of the :data:`VARIANTS`.

    matrix      (m, m), rows are queries; m is the tokens kept, or the words
    removed     (m,), of each row's 1, what went to tokens that were left out (a word: the mean of its tokens)
    exists      (m, m), false where a causal model sees nothing
    """

    name: str
    matrix: Array
    removed: Array
    exists: NDArray[np.bool_]

    @property
    def spread(self) -> float:
        """How many times as large as the smallest the largest weight of one row is, at most; inf beside a 0."""
        high = np.where(self.exists, self.matrix, -np.inf).max(axis=-1)
        low = np.where(self.exists, self.matrix, np.inf).min(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = high / low
        return float(np.where(high > 0, ratios, 1.0).max())


def variant(name: str, attention: ArrayLike, special: Sequence[bool], words: Sequence[int], *, causal: bool) -> Variant:
    """The variant ``name`` of one head's ``attention`` (n, n).

    ``nosep`` drops the rows and columns of all special tokens, the [SEP] inside a pair as well. ``linscale``
    divides each row that is left by its sum, ``softmax_scale`` takes the softmax of what is left (of
    probabilities, so that no weight is more than e times another). ``reduced`` is ``linscale`` between
    words: the mean of a word's rows, the sum of its columns (Clark et al. 2019, §4.1). A row of which nothing
    is left stays 0 in ``linscale``.

    Parameters
    ----------
    special
        (n,), which tokens the model put around the text. One at least must be none.
    words
        The word of each token that is not special: 0, then as before or one more.
    causal
        Whether a query sees nothing after itself.

    Raises
    ------
    ValueError
        No such variant, or no token that is not special.
    """
    weights, keep = np.asarray(attention, dtype=np.float64), ~np.asarray(special, dtype=bool)
    if name not in VARIANTS or not keep.any():
        raise ValueError(f"{name!r} is none of {', '.join(VARIANTS)}, or all {len(keep)} tokens are special.")
    if name == RAW:
        return Variant(RAW, weights, np.zeros(len(weights)), _seen(len(weights), causal))
    left = weights[np.ix_(keep, keep)]
    removed, exists = np.clip(1 - left.sum(axis=-1), 0, 1), _seen(len(left), causal)
    if name == NOSEP:
        return Variant(NOSEP, left, removed, exists)
    if name == SOFTMAX_SCALE:
        grown = np.exp(left) * exists
        return Variant(name, grown / grown.sum(axis=-1, keepdims=True), removed, exists)
    sums = left.sum(axis=-1, keepdims=True)
    scaled = np.divide(left, sums, out=np.zeros_like(left), where=sums > 0)
    if name == LINSCALE:
        return Variant(LINSCALE, scaled, removed, exists)
    sizes = np.bincount(words)
    mean_removed = np.bincount(words, weights=removed) / sizes
    return Variant(REDUCED, reduce_to_words(scaled, words).astype(np.float64), mean_removed, _seen(len(sizes), causal))


def _seen(m: int, causal: bool) -> NDArray[np.bool_]:
    whole = np.ones((m, m), dtype=bool)
    return np.tril(whole) if causal else whole
