"""How alike two orders of the same things are, and what is left of it when other orders are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lab.analysis.heads.parked import ranks
from lab.analysis.heads.values import Values


def agreement(orders: ArrayLike) -> Values:
    """Spearman's ρ of any two rows, (k, m) -> (k, k); 0 with a row in which all are alike: that is no order."""
    ranked = np.stack([ranks(each) for each in np.asarray(orders, dtype=np.float64)])
    centred = ranked - ranked.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(lengths > 0, lengths, 1)
    return np.asarray(unit @ unit.T)


def partial_rank_correlation(first: ArrayLike, second: ArrayLike, known: Sequence[ArrayLike]) -> float:
    """Spearman's ρ of what the ranks of ``known`` do not tell of the two (Kendall 1942, on ranks).

    The ranks of both are fitted by those of ``known`` with least squares; what is left is correlated. nan where nothing
    is left of one.
    """
    one, two = (ranks(np.asarray(each, dtype=np.float64)) for each in (first, second))
    others = [np.ones(len(one)), *(ranks(np.asarray(each, dtype=np.float64)) for each in known)]
    basis, _ = np.linalg.qr(np.stack(others, axis=1))
    left = [each - basis @ (basis.T @ each) for each in (one, two)]
    lengths = [float(np.linalg.norm(each)) for each in left]
    # Rounding leaves about 1e-14 of a rank where in truth nothing is left.
    return float(left[0] @ left[1]) / (lengths[0] * lengths[1]) if min(lengths) > 1e-9 else float("nan")


def kendall(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall's τ-b (1945), from −1 to 1: pairs in the same order less pairs in the other, as a share; ties corrected.

    nan where one of the two is the same everywhere.
    """
    one, two = (
        np.sign(np.subtract.outer(each, each)) for each in (np.asarray(first, float), np.asarray(second, float))
    )
    pairs = float(np.sqrt((one**2).sum() * (two**2).sum()))
    return float((one * two).sum()) / pairs if pairs else float("nan")
