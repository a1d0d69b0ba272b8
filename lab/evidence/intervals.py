"""Intervals and p-values of measured numbers: Wilson's interval of a share, bootstraps, Holm's correction.

Cases of one sentence, sentences of one document and minimal pairs with the same noun are not independent. So, except
for simple shares, the bootstrap draws the sentences, documents or nouns that cases have in common, not single cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
# Number of bootstrap draws, twice the number of Michel et al. 2019.
DRAWS = 2000
# Number of draws for the verdict on a claim: with 2,000, some verdicts hung on the seed.
CLAIM_DRAWS = 50_000
_AT_ONCE = 500  # draws of some hundred units, counted at once: 2 MB
Interval = tuple[float, float]


def wilson(right: float, count: int, level: float = LEVEL) -> Interval:
    """Return the interval of a share, ``right`` of ``count`` (Wilson 1927).

    Unlike the usual ± √(p(1 − p)/n), Wilson's interval never leaves [0, 1] and never shrinks to nothing.

    >>> low, high = wilson(55, 74)  # 74.3 % of 74 cases
    >>> round(low, 3), round(high, 3)
    (0.633, 0.829)
    """
    if not 0 <= right <= count or count == 0:
        raise ValueError(f"{right} of {count} is no share.")
    z, p = NormalDist().inv_cdf((1 + level) / 2), right / count
    middle = (p + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * sqrt(p * (1 - p) / count + z**2 / (4 * count**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def no_event(count: int) -> float:
    """Return the largest rate that no event in ``count`` cases leaves possible with 95 % confidence: about 3 / count.

    A bootstrap of cases without an event has no spread, and would call the rate exactly 0 (Hanley & Lippman-Hand 1983).

    >>> round(no_event(32), 3)
    0.094
    """
    return min(1.0, 3 / count)


def spread(drawn: ArrayLike, level: float = LEVEL) -> NDArray[np.float64]:
    """Return the ends of the interval with the middle ``level`` of the draws, (times, …) -> (2, …): low and high.

    Draws without a value (nan: none of the drawn sentences has a case) are left out.
    """
    return np.asarray(np.nanquantile(np.asarray(drawn, dtype=np.float64), [(1 - level) / 2, (1 + level) / 2], axis=0))


def crossed_draws(*factors: ArrayLike, times: int = DRAWS, seed: int = 0) -> Iterator[NDArray[np.float64]]:
    """Draw the levels of every factor with replacement and count each unit, (500, units) at a time.

    A factor (units,) gives the level of each unit: the document of a sentence, or the noun that a pair shares with
    other pairs. Units that share a level are not independent. So the levels of each factor are drawn, as many as there
    are, and a unit's count is the product of its levels' counts (the pigeonhole bootstrap: Owen & Eckles 2012, §2).
    With one factor this is the cluster bootstrap. Sums over units vary between draws at least as much as between real
    samples. A seed always gives the same draws.
    """
    levels = [np.unique(np.asarray(factor), return_inverse=True)[1] for factor in factors]
    random = np.random.default_rng(seed)
    for start in range(0, times, _AT_ONCE):
        count = min(_AT_ONCE, times - start)
        weights = np.ones((count, len(levels[0])))
        for level in levels:
            sizes = int(level.max()) + 1
            weights *= random.multinomial(sizes, np.full(sizes, 1 / sizes), size=count)[:, level]
        yield weights


def drawn_means(values: ArrayLike, *factors: ArrayLike, times: int = DRAWS, seed: int = 0) -> NDArray[np.float64]:
    """Means over units that share levels of ``factors``, (units, …) -> (times, …), by :func:`crossed_draws`.

    Without factors, units are independent (the bootstrap of Efron 1979). A draw in which no unit is drawn is nan.
    """
    array = np.asarray(values, dtype=np.float64)
    factors = factors or (np.arange(len(array)),)
    flat = array.reshape(len(array), -1)
    with np.errstate(invalid="ignore"):
        found = [
            weights @ flat / weights.sum(axis=1, keepdims=True)
            for weights in crossed_draws(*factors, times=times, seed=seed)
        ]
    return np.concatenate(found).reshape(times, *array.shape[1:])


def mean_interval(values: ArrayLike, level: float = LEVEL, times: int = DRAWS, seed: int = 0) -> NDArray[np.float64]:
    """Return the interval of a mean over independent units, (units, …) -> (2, …): low and high."""
    return spread(drawn_means(values, times=times, seed=seed), level)


@dataclass(frozen=True, eq=False)
class TestFamily:
    """The effects of a family: 95 % intervals, and p-values corrected by Holm, (k,) each.

    ``p`` is small for an effect above 0, ``p_below`` for one below 0.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    p_below: NDArray[np.float64]


def family_of(drawn: ArrayLike) -> TestFamily:
    """Return the intervals and p-values of k effects, from all their draws ``drawn`` (times, k)."""
    low, high = spread(drawn)
    array = np.asarray(drawn, dtype=np.float64)
    return TestFamily(low, high, holm(p_above(array)), holm(p_above(-array)))


def p_above(drawn: ArrayLike, least: float = 0.0) -> NDArray[np.float64]:
    """Return the probability of a draw of ``least`` or less, (times, …) -> (…): one-sided, never 0.

    Both the counted draws and all draws are increased by 1, for the sample itself (Davison & Hinkley 1997, §4.2).
    """
    array = np.asarray(drawn, dtype=np.float64)
    return np.asarray((1 + (~(array > least)).sum(0)) / (1 + len(array)))


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return the p-values of a family corrected for its size (Holm 1979), in the order given.

    The smallest of k p-values is multiplied by k, the next by k − 1 and so on; no corrected value is smaller than the
    one before it.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    array = np.asarray(p, dtype=np.float64)
    order = np.argsort(array, axis=None, kind="stable")
    ordered = array.reshape(-1)[order] * np.arange(array.size, 0, -1)
    corrected = np.empty(array.size)
    corrected[order] = np.minimum(np.maximum.accumulate(ordered), 1.0)
    return corrected.reshape(array.shape)
