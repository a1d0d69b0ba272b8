"""The neurons of a head: one query from vectors to contribution, and the dimensions of q·k that make a pattern.

A neuron is here one of the d_k dimensions of a head's queries and keys, as in Vig 2019 ("Deconstructing
BERT, part 2: visualizing the inner workings of attention"). A score is the sum of d_k products, so the effect of a
dimension for or against a key can be computed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.one_row import attention_row
from lab.analysis.heads.patterns import PATTERNS, Roles, head_patterns, trace_roles
from lab.analysis.heads.values import Mask, Values, Weights, is_causal
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

Array = NDArray[np.float32]
# The patterns that prefer some keys to others; "broad" prefers none.
DECIDED = tuple(pattern for pattern in PATTERNS if pattern.id != "broad")
# Numbers of dimensions to keep or remove: all small numbers, then coarser steps.
_STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, eq=False)
class NeuronRow:
    """One query of one head against n keys, from the trace, and the vector that the head adds.

    query              (d_k,)
    keys, values       (n, d_k)
    products           (n, d_k), query times key, dimension by dimension
    scores             (n,), the sums of the products
    scaled             (n,), the scores divided by ``divisor``; -inf where masked
    weights            (n,), the softmax of the scaled scores
    weighted           (n, d_k), each value times its weight
    lengths            (n,), ‖α·v·W_O‖: the length of the vector that each key adds (Kobayashi et al. 2020, §3)
    context            (d_k,), the sum of ``weighted``
    contribution       (d,), context · W_O: the vector that the head adds to the query's token, without b_O
    divisor            √d_k, or 1 if the model or the run does not scale
    """

    query: Array
    keys: Array
    products: Array
    scores: Array
    scaled: Array
    weights: Array
    values: Array
    weighted: Array
    lengths: Array
    context: Array
    contribution: Array
    divisor: float


def neuron_row(traced: Trace, layer: int, head: int, query: int) -> NeuronRow:
    """Return the row of ``query`` in ``head`` of ``layer``, all counted from 0."""
    seen = traced.layer(layer)
    row = attention_row(seen, head, query)
    w_o = np.asarray(seen.weights.w_o.unflatten(0, (len(seen.value), -1))[head])  # (d_k, d)
    return NeuronRow(
        query=row.query,
        keys=row.keys,
        products=row.products,
        scores=row.scores,
        scaled=row.scaled,
        weights=row.weights,
        values=row.values,
        weighted=row.weighted_values,
        lengths=row.weights * np.linalg.norm(row.values @ w_o, axis=-1),
        context=row.context,
        contribution=row.context @ w_o,
        divisor=_divisor(traced),
    )


def _divisor(traced: Trace) -> float:
    config = traced.model.config
    return math.sqrt(config.head_width) if config.scaled_scores and not traced.interventions.no_scaling else 1.0


def pattern_keys(pattern: str, roles: Roles, *, causal: bool) -> Mask:
    """Return the keys that a pattern of :data:`DECIDED` is about, for each query, (n, n) bool.

    A query without a case of the pattern has no such keys: a delimiter, the last token for the next token, a word
    that occurs once. Raises ValueError for a pattern that is not in :data:`DECIDED`.
    """
    n = len(roles.delimiters)
    inside = roles.segments >= 0
    keys: dict[str, Mask] = {
        "delimiter": ~roles.delimiters[:, None] & roles.delimiters,
        "bag_of_words": (roles.segments[:, None] == roles.segments) & inside,
        "same_word": roles.same,
        "next_token": np.eye(n, k=1, dtype=np.bool_),
        "previous_token": np.eye(n, k=-1, dtype=np.bool_),
    }
    if pattern not in keys:
        raise ValueError(f"{pattern!r} sets no keys against others; choose one of {', '.join(keys)}.")
    return np.tril(keys[pattern]) if causal else keys[pattern]


@dataclass(frozen=True, eq=False)
class Decision:
    """The part of each dimension in the score difference between a pattern's keys and the other keys.

    queries              (m,), the queries that see keys of both kinds, in text order
    pattern, others      (d_k,), the mean of q_d·k_d over the pattern's keys, and over the others; then over queries
    by_query             (m, d_k), ``pattern`` minus ``others`` for each query
    order                (d_k,), the dimensions, sorted by their part in the difference, largest first
    """

    queries: NDArray[np.intp]
    pattern: Values
    others: Values
    by_query: Values
    order: NDArray[np.intp]

    @property
    def difference(self) -> Values:
        """The part of each dimension in the difference, (d_k,); the parts add up to ``total``."""
        return self.pattern - self.others

    @property
    def total(self) -> float:
        """The mean score of the pattern's keys minus the mean score of the others, before ÷ √d_k."""
        return float(self.difference.sum())

    def share(self, count: int) -> float:
        """The share of ``total`` from the first ``count`` dimensions of ``order``; above 1 if the rest is negative."""
        return float(self.difference[self.order[:count]].sum() / self.total)

    def needed(self, share: float) -> int | None:
        """The least number of dimensions that carry ``share`` of ``total``; None if ``total`` is not positive."""
        if self.total <= 0:
            return None
        carried = self.difference[self.order].cumsum() >= share * self.total
        # The sum of all dimensions may differ from the total by rounding.
        return int(carried.argmax()) + 1 if carried.any() else len(carried)

    def leader(self) -> tuple[int, float]:
        """Return the dimension that is the largest for the most queries, and the share of these queries."""
        counts = np.bincount(self.by_query.argmax(axis=1), minlength=len(self.order))
        return int(counts.argmax()), float(counts.max() / len(self.queries))


@once
def decide(traced: Trace, layer: int, head: int, pattern: str) -> Decision | None:
    """Split the score difference between a pattern's keys and all other keys by dimension.

    For each query, this is the mean of q_d·k_d over the pattern's keys minus its mean over the other keys that the
    query may see; then the mean is taken over the queries that have both. None if no query has both.
    """
    seen = traced.layer(layer)
    q, k = (np.asarray(tensor[head], dtype=np.float64) for tensor in (seen.query, seen.key))
    allowed = ~np.isneginf(np.asarray(seen.scaled_scores[head]))
    meant = pattern_keys(pattern, trace_roles(traced), causal=is_causal(traced)) & allowed
    others = allowed & ~meant
    queries = np.flatnonzero(meant.any(axis=1) & others.any(axis=1))
    if not len(queries):
        return None
    inside, outside = (q[queries] * _means(mask[queries], k) for mask in (meant, others))
    difference = inside.mean(axis=0) - outside.mean(axis=0)
    order = np.argsort(-difference, kind="stable")
    return Decision(queries, inside.mean(axis=0), outside.mean(axis=0), inside - outside, order)


def _means(mask: Mask, vectors: Values) -> Values:
    """Return the mean of the vectors (n, d_k) at the places that each row of a mask (m, n) marks: (m, d_k)."""
    means: Values = (mask / mask.sum(axis=1, keepdims=True)) @ vectors
    return means


def attention_of(traced: Trace, layer: int, head: int, dimensions: Sequence[int]) -> Weights:
    """Return the head's attention with the products of these dimensions only, (1, n, n); uniform if there are none.

    The softmax is computed again, so the dimensions left out neither help nor hinder any key.
    """
    seen, kept = traced.layer(layer), list(dimensions)
    q, k = (np.asarray(tensor[head])[:, kept] for tensor in (seen.query, seen.key))
    scaled = q @ k.T / np.float32(_divisor(traced))
    scaled[np.isneginf(np.asarray(seen.scaled_scores[head]))] = -np.inf
    exponentials = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    attention: Weights = (exponentials / exponentials.sum(axis=1, keepdims=True))[None].astype(np.float32)
    return attention


def score_with(traced: Trace, at: tuple[int, int], pattern: str, dimensions: Sequence[int]) -> float:
    """Return the pattern's score in head ``at`` (layer, head) with the products of these dimensions only."""
    attention = attention_of(traced, *at, dimensions)
    found = head_patterns(attention, trace_roles(traced), causal=is_causal(traced))
    return float(getattr(found, pattern)[0])


@dataclass(frozen=True, eq=False)
class Kept:
    """A pattern's score with ``only`` the first ``counts`` (p,) dimensions, and ``without`` them, (p,) each."""

    counts: NDArray[np.intp]
    only: Values
    without: Values

    def at(self, count: int) -> tuple[float, float]:
        """(only, without) for one of ``counts``."""
        place = self.counts.tolist().index(count)
        return float(self.only[place]), float(self.without[place])


def kept_scores(traced: Trace, at: tuple[int, int], pattern: str, order: Sequence[int], count: int) -> Kept:
    """The pattern's score when only the first dimensions of ``order`` are kept, and when they are left out.

    ``at`` is (layer, head). The numbers of dimensions are 0, 1, 2 … in growing steps, ``count``, and the number of all
    dimensions.
    """
    counts = sorted({*(step for step in _STEPS if step < len(order)), count, len(order)})
    only = [score_with(traced, at, pattern, order[:kept]) for kept in counts]
    without = [score_with(traced, at, pattern, order[kept:]) for kept in counts]
    return Kept(np.array(counts), np.array(only), np.array(without))


@once
def kept_of(traced: Trace, at: tuple[int, int], pattern: str, count: int) -> Kept | None:
    """:func:`kept_scores` in the order of :func:`decide`; None if :func:`decide` gives None."""
    found = decide(traced, *at, pattern)
    return None if found is None else kept_scores(traced, at, pattern, found.order.tolist(), count)
