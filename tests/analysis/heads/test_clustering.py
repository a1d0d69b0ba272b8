"""Clusters of heads: k-means on groups that are plain to see, figures worked by hand, features of real traces."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import lab
from lab.analysis.heads.clustering import (
    FEATURES,
    HeadSample,
    accumulate,
    adjusted_rand,
    cluster,
    head_features,
    silhouette,
    stability,
    standardised,
)
from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.patterns import trace_patterns
from lab.toy.models import constructed_toy, random_toy

Points = NDArray[np.float64]


def labels(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def groups(seed: int, sizes: list[int]) -> tuple[Points, NDArray[np.int64]]:
    """Groups of points ten deviations apart."""
    rng, owner = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    return np.eye(len(sizes))[owner] * 10 + rng.normal(size=(len(owner), len(sizes))) * 0.5, owner


@settings(max_examples=30)
@given(st.integers(0, 50), st.lists(st.integers(1, 12), min_size=2, max_size=5))
def test_plain_groups_are_found_the_largest_first(seed: int, sizes: list[int]) -> None:
    points, owner = groups(seed, sizes)
    found = cluster(points, len(sizes), seed)
    assert adjusted_rand(found.labels, owner) == 1
    assert np.bincount(found.labels).tolist() == sorted(sizes, reverse=True)
    for number, center in enumerate(found.centers):
        np.testing.assert_allclose(center, points[found.labels == number].mean(axis=0))
    assert found.inertia == pytest.approx(((points - found.centers[found.labels]) ** 2).sum())
    assert found.silhouette >= 0  # every point is nearer to its own group


def test_k_means_reaches_the_best_of_all_clusterings_of_few_points() -> None:
    points = np.random.default_rng(7).normal(size=(8, 2))

    def inertia(owner: tuple[int, ...]) -> float:
        own = [points[[o == number for o in owner]] for number in set(owner)]
        return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in own))

    best = min(inertia(owner) for owner in product(range(3), repeat=8))
    assert cluster(points, 3).inertia == pytest.approx(best)


def test_the_same_seed_gives_the_same_clusters() -> None:
    points = np.random.default_rng(1).normal(size=(60, 4))
    one, again = cluster(points, 5, seed=3), cluster(points, 5, seed=3)
    np.testing.assert_array_equal(one.labels, again.labels)
    np.testing.assert_array_equal(one.centers, again.centers)


def test_more_clusters_than_different_points_are_refused() -> None:
    points = np.array([[0.0], [0.0], [1.0]])
    assert cluster(points, 2).inertia == 0
    for k in (0, 3):
        with pytest.raises(ValueError, match="make 1 to 2"):
            cluster(points, k)


def test_silhouette_by_hand() -> None:
    # On a line: 0, 1 | 5. For 0: a = 1, b = 5; for 1: a = 1, b = 4; 5 is alone.
    points = np.array([[0.0], [1.0], [5.0]])
    assert silhouette(points, labels(0, 0, 1)) == pytest.approx((4 / 5 + 3 / 4 + 0) / 3)
    assert math.isnan(silhouette(points, labels(0, 0, 0)))


@given(st.integers(0, 99), st.integers(2, 4))
def test_silhouette_is_what_loops_over_pairs_give(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    points, owner = rng.normal(size=(9, 2)), np.concatenate([np.arange(k), rng.integers(0, k, 9 - k)])
    scores = []
    for i in range(9):
        others = [[math.dist(points[i], points[j]) for j in range(9) if j != i and owner[j] == c] for c in range(k)]
        own = others[owner[i]]
        b = min(sum(part) / len(part) for c, part in enumerate(others) if c != owner[i])
        a = sum(own) / len(own) if own else 0
        scores.append((b - a) / max(a, b) if own else 0)
    assert silhouette(points, owner) == pytest.approx(sum(scores) / 9)


def test_adjusted_rand_has_its_known_values() -> None:
    # The examples of scikit-learn's adjusted_rand_score.
    assert adjusted_rand(labels(0, 0, 1, 1), labels(1, 1, 0, 0)) == 1
    assert adjusted_rand(labels(0, 0, 1, 2), labels(0, 0, 1, 1)) == pytest.approx(4 / 7)  # 0.57
    assert adjusted_rand(labels(0, 0, 1, 1), labels(0, 0, 1, 2)) == pytest.approx(4 / 7)
    assert adjusted_rand(labels(0, 0, 0, 0), labels(0, 1, 2, 3)) == 0
    assert adjusted_rand(labels(0, 0, 1, 1), labels(0, 1, 0, 1)) == pytest.approx(-0.5)
    assert adjusted_rand(labels(0, 0, 0), labels(0, 0, 0)) == 1
    assert adjusted_rand(labels(0, 1, 2), labels(2, 0, 1)) == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_adjusted_rand_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    first, second = (labels(*column) for column in zip(*pairs, strict=True))
    both = [(first[i] == first[j], second[i] == second[j]) for i, j in combinations(range(len(pairs)), 2)]
    n11, n00 = both.count((True, True)), both.count((False, False))
    n10, n01 = both.count((True, False)), both.count((False, True))
    divisor = (n11 + n10) * (n10 + n00) + (n11 + n01) * (n01 + n00)
    expected = 2 * (n11 * n00 - n10 * n01) / divisor if divisor else 1
    assert adjusted_rand(first, second) == pytest.approx(expected)


def test_standardised_leaves_out_what_tells_no_heads_apart() -> None:
    features = np.array([[[1, 5, np.nan, 0.1], [3, 5, np.nan, 0.3]]])
    np.testing.assert_allclose(standardised(features), [[-1, -1], [1, 1]])
    with pytest.raises(ValueError, match="nothing to cluster"):
        standardised(features[..., 1:3])


def samples() -> Iterator[HeadSample]:
    model = constructed_toy(9, 8)
    for text in ("c e b e c a c", "a a b", "d e f g h i"):
        trace = lab.trace(model, text)
        yield HeadSample(trace, [None] * len(trace), [None] * len(trace))


def test_features_are_the_corrected_numbers_of_the_other_analyses() -> None:
    sample = next(samples())
    found = head_features(sample)
    assert found.shape == (1, 3, len(FEATURES))
    columns = dict(zip(FEATURES, np.moveaxis(found, -1, 0), strict=True))
    np.testing.assert_array_equal(columns["sparsity"], trace_metrics(sample.trace).corrected["sparsity"])
    np.testing.assert_array_equal(columns["same_word"], trace_patterns(sample.trace).same_word)
    assert np.isnan(columns["function_words"]).all()


def test_partial_results_are_the_means_so_far_and_no_sentence_is_read_ahead() -> None:
    read: list[int] = []

    def watched() -> Iterator[HeadSample]:
        for number, sample in enumerate(samples()):
            read.append(number)
            yield sample

    own = [head_features(sample) for sample in samples()]
    for count, partial in enumerate(accumulate(watched()), start=1):
        assert len(read) == len(partial.sentences) == count
        for feature in range(len(FEATURES)):
            known = [one[..., feature] for one in own[:count] if not np.isnan(one[..., feature]).any()]
            expected = sum(known) / len(known) if known else np.full((1, 3), np.nan)
            np.testing.assert_allclose(partial.mean[..., feature], expected)
    assert count == 3


def test_heads_that_keep_their_ways_have_stable_clusters_and_noise_has_not() -> None:
    rng = np.random.default_rng(0)
    points, _ = groups(2, [4, 4, 4])
    steady = [(points + rng.normal(size=points.shape) * 0.1)[None] for _ in range(6)]
    assert stability(steady, 3, rounds=5).tolist() == [1] * 5
    noise = [rng.normal(size=(1, 30, 4)) for _ in range(6)]
    other = stability(noise, 3, rounds=8)
    assert other.mean() < 0.3
    np.testing.assert_array_equal(stability(noise, 3, rounds=8), other)
    with pytest.raises(ValueError, match="at least two"):
        stability(steady[:1], 3)


def test_random_toys_can_be_clustered_from_start_to_end() -> None:
    model = random_toy(9, 12, heads=12)
    texts = [" ".join(map(str, np.random.default_rng(i).integers(1, 10, 12))) for i in range(4)]
    traces = [lab.trace(model, text) for text in texts]
    *_, last = accumulate(HeadSample(trace, [None] * 12, [None] * 12) for trace in traces)
    found = cluster(standardised(last.mean), 3)
    assert found.labels.shape == (12,)
    assert set(found.labels.tolist()) == {0, 1, 2}
