"""Rank correlations beside their textbook formulas."""

from __future__ import annotations

from itertools import combinations
from math import isnan, sqrt

import numpy as np
import pytest

from lab.analysis.ranks import kendall, partial_rank_correlation, rank_correlation, rank_correlations


def partial_by_recursion(first: int, second: int, known: tuple[int, ...], rho: dict[tuple[int, int], float]) -> float:
    """Yule 1907: one control after the other."""
    if not known:
        return rho[min(first, second), max(first, second)]
    last, rest = known[-1], known[:-1]
    whole = partial_by_recursion(first, second, rest, rho)
    one, two = (partial_by_recursion(each, last, rest, rho) for each in (first, second))
    return (whole - one * two) / sqrt((1 - one**2) * (1 - two**2))


@pytest.mark.parametrize("seed", range(5))
def test_partial_correlation_is_yule_s(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(4, 15))
    values[0] += values[2]
    values[1] += values[2] - values[3]
    rho = {(i, j): rank_correlation(values[i], values[j]) for i, j in combinations(range(4), 2)}
    for known in ((), (2,), (2, 3)):
        found = partial_rank_correlation(values[0], values[1], [values[at] for at in known])
        assert found == pytest.approx(partial_by_recursion(0, 1, known, rho))


def test_any_two_orders_agree_by_spearman() -> None:
    orders = np.random.default_rng(0).integers(0, 6, (4, 12))
    found = rank_correlations(orders)
    assert np.allclose(found, [[rank_correlation(one, two) for two in orders] for one in orders])
    assert (rank_correlations([*orders, np.ones(12)])[-1] == 0).all()


def test_nothing_is_left_of_what_is_known() -> None:
    near = np.arange(8.0)
    assert isnan(partial_rank_correlation(near**2, np.sin(near), [near]))


def test_kendall_counts_pairs() -> None:
    assert kendall([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx((5 - 1) / 6)
    assert kendall([1, 2, 3], [3, 2, 1]) == -1
    # With a tie τ-b divides by √(pairs untied here · pairs untied there): 2 of them agree, of √(2 · 3).
    assert kendall([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / sqrt(6))
    assert isnan(kendall([1, 1, 1], [1, 2, 3]))


def test_ranks_are_correlated_not_values() -> None:
    """Spearman's ρ by hand: ranks 1 2 3 4 against 2 1 4 3 have Σd² = 4, so ρ = 1 − 6·4 / (4·15) = 0.6."""
    found = rank_correlations([(1, 2, 3, 400), (2, 1, 9, 8), (-1, -2, -3, -4)])
    assert found == pytest.approx(np.array([[1, 0.6, -1], [0.6, 1, -0.6], [-1, -0.6, 1]]), abs=1e-12)


def test_rank_correlation_is_spearman_s() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(40), rng.random(40)
    places = [np.argsort(np.argsort(each)) for each in (first, second)]
    n = len(first)
    assert rank_correlation(first, second) == pytest.approx(
        1 - 6 * ((places[0] - places[1]) ** 2).sum() / (n * (n**2 - 1))
    )
    assert rank_correlation(first, np.exp(first)) == pytest.approx(1)
    assert rank_correlation([1, 1, 2], [3, 3, 1]) == pytest.approx(-1)
    assert np.isnan(rank_correlation([1, 1, 1], [1, 2, 3]))
