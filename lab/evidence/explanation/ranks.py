"""Correlations between two orders of the same things, with or without the influence of other orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lab.analysis.heads.parked import ranks
from lab.analysis.heads.values import Values


def agreement(orders: ArrayLike) -> Values:
    """Spearman's ρ of any two rows, (k, m) -> (k, k); 0 if all values of a row are equal, which gives no order."""
    ranked = np.stack([ranks(each) for each in np.asarray(orders, dtype=np.float64)])
    centred = ranked - ranked.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(lengths > 0, lengths, 1)
    return np.asarray(unit @ unit.T)


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
