"""Heads that behave alike, over many sentences: features, k-means, and how far the clusters can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.metrics import METRICS, attention_metrics
from lab.analysis.heads.patterns import PATTERNS, head_patterns, trace_roles
from lab.analysis.heads.specialization import SPECIALIZATIONS, head_specialization
from lab.analysis.heads.values import Mask, Values, Weights, is_causal, layer_groups, running_means

if TYPE_CHECKING:
    from lab.models.trace import Trace

Labels = NDArray[np.int64]

# Corrected values only: sentences of different lengths are averaged. "Spread" and "broad" are one number.
_METRIC_IDS = tuple(metric.id for metric in METRICS)
_PATTERN_IDS = tuple(pattern.id for pattern in PATTERNS if pattern.id != "broad")
FEATURES = (*_METRIC_IDS, *_PATTERN_IDS, *(dimension.id for dimension in SPECIALIZATIONS))

_TRIES = 10
_STEPS = 100


@dataclass(frozen=True, eq=False)
class HeadSample:
    """A sentence's trace and its tags: part of speech and entity of each token, None where there is none."""

    trace: Trace
    upos: Sequence[str | None]
    entities: Sequence[str | None]


@dataclass(frozen=True, eq=False)
class Accumulated:
    """What is known after a number of sentences.

    Attributes
    ----------
    mean
        (L, H, F), the features named in :data:`FEATURES`, each sentence counting the same; nan for what no sentence so
        far had.
    sentences
        (s, L, H, F), each sentence's own.
    """

    mean: Values
    sentences: tuple[Values, ...]


@dataclass(frozen=True, eq=False)
class Clustering:
    """Heads in k clusters.

    Attributes
    ----------
    labels
        (N,), the cluster of each point, from 0, the largest cluster first.
    centers
        (k, F), in the units of the points that were clustered.
    inertia
        The sum of squared distances to the own center.
    silhouette
        Mean over points of (b - a) / max(a, b), in [-1, 1]; see :func:`silhouette`.
    """

    labels: Labels
    centers: Values
    inertia: float
    silhouette: float


def head_features(sample: HeadSample, keep: Mask | None = None) -> Values:
    """(L, H, F): the corrected metrics, patterns and specialization of every head on one sentence.

    ``keep`` (n,) is false for tokens to leave out as queries and keys; rows are renormalised.
    """
    return features_of(list(layer_groups(sample.trace)), sample, keep)


def features_of(groups: Sequence[Weights], sample: HeadSample, keep: Mask | None = None) -> Values:
    """Features of each head from its attention, in groups of :func:`lab.analysis.heads.values.layer_groups`."""
    roles, causal = trace_roles(sample.trace), is_causal(sample.trace)
    rows = []
    for attention in groups:
        metrics = attention_metrics(attention, causal=causal, keep=keep).corrected
        patterns = head_patterns(attention, roles, causal=causal, keep=keep)
        special = head_specialization(attention, sample.upos, sample.entities, causal=causal, keep=keep).corrected
        columns = [metrics[name] for name in _METRIC_IDS]
        columns += [getattr(patterns, name) for name in _PATTERN_IDS]
        rows.append(np.concatenate([np.stack(columns, axis=-1), special], axis=-1))
    return np.concatenate(rows).reshape(sample.trace.model.config.layers, -1, len(FEATURES))


def accumulate(samples: Iterable[HeadSample]) -> Iterator[Accumulated]:
    """Take in one sentence at a time; stop whenever enough is known."""
    taken: list[Values] = []

    def features() -> Iterator[Values]:
        for sample in samples:
            taken.append(head_features(sample))
            yield taken[-1]

    for mean in running_means(features()):
        yield Accumulated(mean, tuple(taken))


def standardised(features: Values) -> Values:
    """(..., F) -> (N, F'): one row a head, each feature with mean 0 and deviation 1.

    Features that no sentence had (nan) or that all heads share tell heads apart in nothing and are
    left out. Raises ValueError when none is left.
    """
    points, useful = features.reshape(-1, features.shape[-1]), telling(features)
    if not useful.any():
        raise ValueError("all heads have the same features, so there is nothing to cluster.")
    kept = points[:, useful]
    return (kept - kept.mean(axis=0)) / kept.std(axis=0)


def telling(features: Values) -> NDArray[np.bool_]:
    """(..., F) -> (F,): the features that tell heads apart; not those that are nan or that all heads share."""
    points = features.reshape(-1, features.shape[-1])
    useful: NDArray[np.bool_] = points.std(axis=0) > 1e-9 * (1 + np.abs(points).max(axis=0))  # false for nan too
    return useful


def cluster(points: Values, k: int, seed: int = 0) -> Clustering:
    """k-means with k-means++ seeding (Arthur & Vassilvitskii 2007), the best of ten tries.

    Parameters
    ----------
    points
        (N, F), standardised.
    k
        Clusters, from 1 to the number of different points.
    seed
        The same seed gives the same clusters.

    Raises
    ------
    ValueError
        If there are fewer different points than clusters.
    """
    different = len(np.unique(points, axis=0))
    if not 1 <= k <= different:
        raise ValueError(f"k is {k}; these {len(points)} heads, {different} of them different, make 1 to {different}.")
    rng = np.random.default_rng(seed)
    tries = [_lloyd(points, _seeds(points, k, rng)) for _ in range(_TRIES)]
    labels, centers, inertia = min(tries, key=lambda found: found[2])
    order = np.argsort(-np.bincount(labels, minlength=k), kind="stable")
    renamed = np.argsort(order)[labels]
    return Clustering(renamed, centers[order], inertia, silhouette(points, renamed))


def silhouette(points: Values, labels: Labels) -> float:
    """Mean silhouette (Rousseeuw 1987): a is the mean distance to the own cluster, b to the nearest other.

    A point alone in its cluster counts 0; nan with a single cluster.
    """
    labels, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    if len(counts) < 2:
        return float("nan")
    everyone = np.arange(len(points))
    distances = np.linalg.norm(points[:, None] - points, axis=-1)
    sums = distances @ np.eye(len(counts))[labels]  # (N, k), to each cluster
    own = counts[labels]
    a = sums[everyone, labels] / np.maximum(own - 1, 1)
    means = sums / counts
    means[everyone, labels] = np.inf
    b = means.min(axis=1)
    widest = np.maximum(a, b)
    scores = np.where((own > 1) & (widest > 0), (b - a) / np.where(widest > 0, widest, 1), 0)
    return float(scores.mean())


def adjusted_rand(first: Labels, second: Labels) -> float:
    """Agreement of two clusterings, 1 for the same up to names, 0 expected by chance (Hubert & Arabie 1985).

    1 where both put everything together or both put everything apart.
    """
    table = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(table, (first, second), 1)
    together, rows, columns = (_pairs(counts) for counts in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = rows * columns / max(_pairs(np.array([len(first)])), 1)
    best = (rows + columns) / 2
    return 1.0 if best == chance else float((together - chance) / (best - chance))


def stability(sentences: Sequence[Values], k: int, seed: int = 0, rounds: int = 20) -> Values:
    """How much the clusters depend on the sentences at hand: (rounds,) adjusted Rand indices.

    Each round splits the sentences into two random halves, averages and clusters each half by itself
    and compares. The mean is the stability: near 1, other sentences would give the same clusters.
    Raises ValueError for fewer than two sentences.
    """
    if len(sentences) < 2:
        raise ValueError("stability compares two halves of the sentences; give at least two.")
    rng, everything = np.random.default_rng(seed), np.stack(sentences)
    found = []
    for _ in range(rounds):
        order = rng.permutation(len(everything))
        halves = [_mean(everything[half]) for half in (order[: len(order) // 2], order[len(order) // 2 :])]
        one, other = (cluster(standardised(half), k, seed).labels for half in halves)
        found.append(adjusted_rand(one, other))
    return np.array(found)


def _mean(sentences: Values) -> Values:
    """The mean over sentences, (s, L, H, F) -> (L, H, F), where nan does not count."""
    known = ~np.isnan(sentences)
    count = known.sum(axis=0)
    return np.where(count > 0, np.where(known, sentences, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _squared_distances(points: Values, centers: Values) -> Values:
    """(N, k)."""
    squared: Values = ((points[:, None] - centers) ** 2).sum(axis=-1)
    return squared


def _seeds(points: Values, k: int, rng: np.random.Generator) -> Values:
    """k different points: the first at random, each further one likelier the farther it is from those before."""
    centers = points[[rng.integers(len(points))]]
    while len(centers) < k:
        nearest = _squared_distances(points, centers).min(axis=1)
        chosen = rng.choice(len(points), p=nearest / nearest.sum())
        centers = np.concatenate([centers, points[[chosen]]])
    return centers


def _lloyd(points: Values, centers: Values) -> tuple[Labels, Values, float]:
    """Assign to the nearest center, move centers to their means, until nothing changes (Lloyd 1982)."""
    for _ in range(_STEPS):
        labels = _squared_distances(points, centers).argmin(axis=1)
        moved = centers.copy()
        for number in np.unique(labels):  # a center nobody is nearest to stays where it is
            moved[number] = points[labels == number].mean(axis=0)
        if np.array_equal(moved, centers):
            break
        centers = moved
    distances = _squared_distances(points, centers)
    labels = distances.argmin(axis=1)
    return labels, centers, float(distances[np.arange(len(points)), labels].sum())


def _pairs(counts: NDArray[np.int64]) -> float:
    """How many pairs can be made inside groups of these sizes."""
    return float((counts * (counts - 1) // 2).sum())
