"""Attention without special tokens, rescaled, and between words: the variants of TransEasy's bertplus.

Each variant also records the weight that was removed, because a row with most of its weight on [SEP] has little left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.analysis.heads.values import is_causal
from lab.analysis.words.cut_by_hand import without_special
from lab.analysis.words.word_groups import reduce_to_words

if TYPE_CHECKING:
    from lab.models.trace import Trace

Array = NDArray[np.float64]

VARIANTS = ("raw", "nosep", "linscale", "softmax_scale", "reduced")
RAW, NOSEP, LINSCALE, SOFTMAX_SCALE, REDUCED = VARIANTS


@dataclass(frozen=True, eq=False)
class Variant:
    """The attention of a head, or of many heads, in one of the :data:`VARIANTS`.

    matrix      (…, m, m), rows are queries; m is the number of kept tokens, or of words
    removed     (…, m), the weight of each row on tokens that were left out (for a word: the mean over its tokens)
    exists      (m, m), false for keys that a causal model does not see
    """

    name: str
    matrix: Array
    removed: Array
    exists: NDArray[np.bool_]

    @property
    def spread(self) -> float:
        """The largest ratio between the largest and the smallest weight of a row; inf if the smallest is 0."""
        high = np.where(self.exists, self.matrix, -np.inf).max(axis=-1)
        low = np.where(self.exists, self.matrix, np.inf).min(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = high / low
        return float(np.where(high > 0, ratios, 1.0).max())


def variant(name: str, attention: ArrayLike, special: Sequence[bool], words: Sequence[int], *, causal: bool) -> Variant:
    """Return the variant ``name`` of ``attention``, (n, n) of a head or (…, n, n) of many.

    ``nosep`` drops the rows and columns of all special tokens, also the [SEP] inside a pair. ``linscale``
    divides each remaining row by its sum; ``softmax_scale`` takes the softmax of each remaining row (the softmax of
    probabilities, so that no weight is more than e times another weight). ``reduced`` is ``linscale`` between
    words: the mean of a word's rows, the sum of its columns (Clark et al. 2019, §4.1). A row without remaining
    weight stays 0 in ``linscale``.

    Parameters
    ----------
    special
        (n,), true for tokens that the model put around the text. At least one token must not be special.
    words
        The word of each token that is not special: 0 for the first, then the previous number or one more.
    causal
        True if a query sees nothing after itself.

    Raises
    ------
    ValueError
        If there is no such variant, or if all tokens are special.
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

    Each ``matrix`` is (layers, heads, m, m) in float64: 5 · L · H · n² numbers in all, so use this function for texts
    of at most a few hundred tokens. Words are cut as the model's tokenizer cuts them; :func:`variant` takes any other
    cut.

    Raises
    ------
    ValueError
        If all tokens of the text are special.

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
