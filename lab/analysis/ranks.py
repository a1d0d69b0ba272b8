"""Rank correlations: how alike two orders of the same things are, with or without the influence of other orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


def ranks(values: Values) -> Values:
    """Return the rank of each number, from 1; equal numbers get the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def rank_correlations(orders: ArrayLike) -> Values:
    """Spearman's ρ of any two rows, (k, m) -> (k, k); 0 if all values of a row are equal, which gives no order.

    ρ is the correlation of the ranks.
    """
    ranked = np.stack([ranks(each) for each in np.asarray(orders, dtype=np.float64)])
    centred = ranked - ranked.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(lengths > 0, lengths, 1)
    return np.asarray(unit @ unit.T)


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's ρ, from −1 to 1, which is 1 if two lists of numbers put the same things into the same order.

    nan if all numbers of a list are equal.
    """
    both = np.stack([np.asarray(values, dtype=np.float64).ravel() for values in (first, second)])
    return float("nan") if (np.ptp(both, axis=1) == 0).any() else float(rank_correlations(both)[0, 1])


def partial_rank_correlation(first: ArrayLike, second: ArrayLike, known: Sequence[ArrayLike]) -> float:
    """Partial Spearman's ρ of ``first`` and ``second``, controlling for ``known`` (Kendall 1942, on ranks).

    The ranks of ``first`` and ``second`` are fitted by the ranks of ``known`` with least squares, and the residuals are
    correlated. nan if the residuals of one are all 0.
    """
    one, two = (ranks(np.asarray(each, dtype=np.float64)) for each in (first, second))
    others = [np.ones(len(one)), *(ranks(np.asarray(each, dtype=np.float64)) for each in known)]
    basis, _ = np.linalg.qr(np.stack(others, axis=1))
    left = [each - basis @ (basis.T @ each) for each in (one, two)]
    lengths = [float(np.linalg.norm(each)) for each in left]
    # Rounding leaves residuals of about 1e-14 ranks even if the exact residuals are 0.
    return float(left[0] @ left[1]) / (lengths[0] * lengths[1]) if min(lengths) > 1e-9 else float("nan")


def kendall(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall's τ-b (1945), from −1 to 1: the share of pairs in equal order minus the share in opposite order.

    Ties are corrected for. nan if all values of ``first`` or of ``second`` are equal.
    """
    one, two = (
        np.sign(np.subtract.outer(each, each)) for each in (np.asarray(first, float), np.asarray(second, float))
    )
    pairs = float(np.sqrt((one**2).sum() * (two**2).sum()))
    return float((one * two).sum()) / pairs if pairs else float("nan")
