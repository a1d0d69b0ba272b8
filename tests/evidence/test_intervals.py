"""Intervals beside published figures and figures worked by hand."""

from __future__ import annotations

import doctest
from itertools import product
from math import comb, sqrt

import numpy as np
import pytest

from lab.evidence import intervals
from lab.evidence.intervals import (
    crossed_draws,
    drawn_means,
    family_of,
    holm,
    mean_interval,
    p_above,
    spread,
    wilson,
)


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [
        # Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # Best fixed offsets of UD EWT dev, counted and bounded by whoever planned the experiments.
        (55, 74, 0.633, 0.829),
        (760, 2015, 0.356, 0.399),
        (433, 1211, 0.331, 0.385),
    ],
)
def test_wilson_beside_published_intervals(right: int, count: int, low: float, high: float) -> None:
    assert wilson(right, count) == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.97])
def test_wilson_covers_the_share_as_often_as_it_says(share: float) -> None:
    """Over all outcomes of 60 draws, by their exact probabilities."""
    n = 60
    inside = [k for k in range(n + 1) if wilson(k, n)[0] <= share <= wilson(k, n)[1]]
    covered = sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in inside)
    assert 0.91 < covered < 0.99


def test_no_share_of_nothing() -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(0, 0)


def test_the_bootstrap_of_a_mean_is_as_wide_as_its_standard_error() -> None:
    values = np.random.default_rng(1).normal(3, 2, size=(400, 2))
    low, high = mean_interval(values, times=4000)
    error = values.std(0) / sqrt(400)
    assert np.allclose(low, values.mean(0) - 1.96 * error, atol=0.15 * error.max())
    assert np.allclose(high, values.mean(0) + 1.96 * error, atol=0.15 * error.max())


def test_draws_are_the_seed_s_and_draw_as_many() -> None:
    first, again, other = (np.concatenate([*crossed_draws(range(7), times=50, seed=seed)]) for seed in (3, 3, 4))
    assert first.shape == (50, 7) and (first.sum(1) == 7).all()
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_a_draw_without_a_case_is_left_out_of_the_spread_and_counts_against_the_effect() -> None:
    drawn = np.array([0.1, 0.2, np.nan, 0.3])
    low, high = spread(drawn, level=1.0)
    assert (low, high) == (0.1, 0.3)
    assert p_above(drawn) == pytest.approx(2 / 5)


def test_p_counts_the_draws_at_or_below() -> None:
    drawn = np.array([[-1.0, 1.0], [0.0, 2.0], [3.0, 4.0]])
    assert p_above(drawn).tolist() == [3 / 4, 1 / 4]


def test_holm_as_worked_by_hand() -> None:
    # 0.005·4, then 0.01·3, then max(0.03·2, 0.03) and max(0.04·1, 0.06).
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([[0.9, 0.8]]).tolist() == [[1.0, 1.0]]


def test_examples() -> None:
    assert doctest.testmod(intervals).failed == 0


def test_groups_are_drawn_whole() -> None:
    """Three groups of 1, 2 and 3 units: a draw is one of the 10 choices with repetition, by their probabilities."""
    values, groups = np.array([6.0, 0, 3, 1, 1, 4]), np.array([5, 7, 7, 9, 9, 9])
    sums, sizes = {5: 6.0, 7: 3.0, 9: 6.0}, {5: 1, 7: 2, 9: 3}
    drawn = drawn_means(values, groups, times=6000, seed=1)
    exact = [
        sum(sums[at] for at in chosen) / sum(sizes[at] for at in chosen) for chosen in product((5, 7, 9), repeat=3)
    ]
    assert set(np.round(drawn, 9)) == set(np.round(exact, 9))
    assert drawn.mean() == pytest.approx(np.mean(exact), abs=0.05) and drawn.std() == pytest.approx(
        np.std(exact), abs=0.05
    )
    table = drawn_means(np.stack([values, -values], axis=-1), groups, times=600, seed=1)
    assert table.shape == (600, 2) and np.allclose(table[:, 0], -table[:, 1])


def test_crossed_draws_are_products_of_the_draws_of_each_factor() -> None:
    """Four units, one of each of two nouns with each of two verbs: 3 × 3 outcomes with their exact probabilities."""
    nouns, verbs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    weights = np.concatenate(list(crossed_draws(nouns, verbs, times=8000, seed=2)))
    assert weights.shape == (8000, 4)
    counts = {0: (2, 0), 1: (1, 1), 2: (0, 2)}
    share = {0: 0.25, 1: 0.5, 2: 0.25}
    for (n, noun), (v, verb) in product(counts.items(), counts.items()):
        expected = np.outer(noun, verb).reshape(-1)
        seen = (weights == expected).all(axis=1).mean()
        assert seen == pytest.approx(share[n] * share[v], abs=0.02)


def test_crossed_draws_are_as_wide_as_the_random_effects_say() -> None:
    """A mean of noun + verb + noise: its variance is σ²/nouns + σ²/verbs + σ²/units (Owen & Eckles 2012), about."""
    rng = np.random.default_rng(4)
    nouns, verbs = np.indices((20, 30)).reshape(2, -1)
    widths = []
    for _ in range(20):
        values = rng.normal(size=20)[nouns] + rng.normal(size=30)[verbs] + rng.normal(size=600)
        widths.append(drawn_means(values, nouns, verbs, times=500).std())
    assert np.mean(widths) == pytest.approx(sqrt(1 / 20 + 1 / 30 + 1 / 600), rel=0.1)


def test_a_draw_without_a_unit_is_nan() -> None:
    """Two units that share neither noun nor verb: in an eighth of the draws neither is drawn."""
    drawn = drawn_means([1.0, 2.0], [0, 1], [0, 1], times=4000)
    assert np.isnan(drawn).mean() == pytest.approx(1 / 8, abs=0.02)


def test_a_family_of_effects_is_tested_as_its_parts_are() -> None:
    drawn = np.random.default_rng(3).normal([0.0, 1.0, 5.0], 1, size=(999, 3))
    found = family_of(drawn)
    assert np.array_equal(np.stack([found.low, found.high]), spread(drawn))
    assert np.array_equal(found.p, holm(p_above(drawn)))
