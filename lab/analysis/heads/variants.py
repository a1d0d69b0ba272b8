"""Attention without special tokens, rescaled, and between words: the variants of TransEasy's bertplus.

What is taken away is kept beside what is left: a row that spends its mass on [SEP] has little to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.analysis.heads.values import is_causal
from lab.analysis.words.cuts import without_special
from lab.analysis.words.words import reduce_to_words

if TYPE_CHECKING:
    from lab.models.trace import Trace

Array = NDArray[np.float64]

VARIANTS = ("raw", "nosep", "linscale", "softmax_scale", "reduced")
RAW, NOSEP, LINSCALE, SOFTMAX_SCALE, REDUCED = VARIANTS


@dataclass(frozen=True, eq=False)
class Variant:
    """The attention of a head, or of many, in one of the :data:`VARIANTS`.

    matrix      (…, m, m), rows are queries; m is the tokens kept, or the words
    removed     (…, m), of each row's 1, what went to tokens that were left out (a word: the mean of its tokens)
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
    """Return the variant ``name`` of ``attention``, (n, n) of a head or (…, n, n) of many.

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
        return Variant(RAW, weights, np.zeros(weights.shape[:-1]), _seen(len(keep), causal))
    left = weights[..., keep, :][..., keep]
    removed, exists = np.clip(1 - left.sum(axis=-1), 0, 1), _seen(left.shape[-1], causal)
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
    mean_removed = np.add.reduceat(removed, np.flatnonzero(np.diff(words, prepend=-1)), axis=-1) / sizes
    return Variant(REDUCED, reduce_to_words(scaled, words).astype(np.float64), mean_removed, _seen(len(sizes), causal))


def variants(trace: Trace) -> dict[str, Variant]:
    """Return all five variants of every layer and head of a trace, by name.

    Each ``matrix`` is (layers, heads, m, m) in float64: 5 · L · H · n² numbers in all, so take it for texts of a few
    hundred tokens. Words are cut as the model's tokenizer cuts them; :func:`variant` takes any other cut.

    Raises
    ------
    ValueError
        All tokens of the text are special.

    Examples
    --------
    >>> import lab
    >>> found = lab.variants(lab.trace(lab.load_model("lab-bert"), "The cat sat."))
    >>> found["raw"].matrix.shape, found["nosep"].matrix.shape
    ((4, 8, 6, 6), (4, 8, 4, 4))
    """
    special, words = trace.encoding.special, without_special(trace.encoding).groups
    attention, causal = trace.attention.numpy(), is_causal(trace)
    return {name: variant(name, attention, special, words, causal=causal) for name in VARIANTS}


def _seen(m: int, causal: bool) -> NDArray[np.bool_]:
    whole = np.ones((m, m), dtype=bool)
    return np.tril(whole) if causal else whole
