"""The neurons of a head: one query from vectors to contribution, and which dimensions of q·k make its pattern.

A neuron is here one of the d_k dimensions of a head's queries and keys, as in Vig 2019 ("Deconstructing
BERT, part 2: visualizing the inner workings of attention"). A score is the sum of d_k products, so what
a dimension does for one key and against another can be told apart exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.named import Chance, clearly_above, scores_of
from lab.analysis.heads.patterns import PATTERNS, Pattern, Patterns, Roles, head_patterns, trace_roles
from lab.analysis.heads.values import Mask, Values, Weights, is_causal

if TYPE_CHECKING:
    from lab.models.trace import Trace

Array = NDArray[np.float32]
# The patterns that set some keys against others; a broad head has none.
DECIDED = tuple(pattern for pattern in PATTERNS if pattern.id != "broad")
# Of the largest possible entropy: a head above it chooses so little that it is not taken as an example.
NEAR_UNIFORM = 0.9
# How many dimensions are kept or removed: all small numbers, then coarser steps.
_STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, eq=False)
class NeuronRow:
    """One query of one head against n keys, as the trace has it, and what comes of it.

    query              (d_k,)
    keys, values       (n, d_k)
    products           (n, d_k), query times key, dimension by dimension
    scores             (n,), their sums
    scaled             (n,), divided by ``divisor``; -inf where masked
    weights            (n,), the softmax
    weighted           (n, d_k), each value times its weight
    lengths            (n,), ‖α·v·W_O‖: how long the vector is that the key adds (Kobayashi et al. 2020, §3)
    context            (d_k,), the sum of ``weighted``
    contribution       (d,), context · W_O: what the head adds to the query's token, b_O aside
    divisor            √d_k, or 1 where the model or the run does not scale
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
    """Row ``query`` of ``head`` of ``layer``, all from 0."""
    seen = traced.layer(layer)
    q, k, v = (np.asarray(tensor[head]) for tensor in (seen.query, seen.key, seen.value))
    weights = np.asarray(seen.attention[head, query])
    w_o = np.asarray(seen.weights.w_o.unflatten(0, (len(seen.value), -1))[head])  # (d_k, d)
    context = np.asarray(seen.context[head, query])
    return NeuronRow(
        query=q[query],
        keys=k,
        products=q[query] * k,
        scores=np.asarray(seen.scores[head, query]),
        scaled=np.asarray(seen.scaled_scores[head, query]),
        weights=weights,
        values=v,
        weighted=weights[:, None] * v,
        lengths=weights * np.linalg.norm(v @ w_o, axis=-1),
        context=context,
        contribution=context @ w_o,
        divisor=_divisor(traced),
    )


def _divisor(traced: Trace) -> float:
    config = traced.model.config
    return math.sqrt(config.head_width) if config.scaled_scores and not traced.interventions.no_scaling else 1.0


def pattern_keys(pattern: str, roles: Roles, *, causal: bool) -> Mask:
    """For each query the keys that a pattern of :data:`DECIDED` means, (n, n) bool.

    A query without a case of the pattern has none: a delimiter, the last token's next, a word that
    occurs once. Raises ValueError for another pattern.
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
    """What each dimension adds to the scores of a pattern's keys, over what it adds to the other keys.

    queries              (m,), those that see keys of both kinds, in text order
    pattern, others      (d_k,), q_d·k_d as a mean over the pattern's keys, over the others; then over queries
    by_query             (m, d_k), ``pattern`` minus ``others`` for each query
    order                (d_k,), dimensions from the one that adds most to the one that takes most away
    """

    queries: NDArray[np.intp]
    pattern: Values
    others: Values
    by_query: Values
    order: NDArray[np.intp]

    @property
    def difference(self) -> Values:
        """(d_k,), what each dimension adds; they add up to ``total``."""
        return self.pattern - self.others

    @property
    def total(self) -> float:
        """How much larger the scores of the pattern's keys are, before ÷ √d_k."""
        return float(self.difference.sum())

    def share(self, count: int) -> float:
        """What the first ``count`` dimensions of ``order`` carry of ``total``; above 1 where the rest takes away."""
        return float(self.difference[self.order[:count]].sum() / self.total)

    def needed(self, share: float) -> int | None:
        """How few dimensions carry ``share`` of ``total``; None where the other keys score as high or higher."""
        if self.total <= 0:
            return None
        carried = self.difference[self.order].cumsum() >= share * self.total
        # The sum of all is the total up to rounding.
        return int(carried.argmax()) + 1 if carried.any() else len(carried)

    def leader(self) -> tuple[int, float]:
        """The dimension that adds most for more queries than any other, and for which share of them."""
        counts = np.bincount(self.by_query.argmax(axis=1), minlength=len(self.order))
        return int(counts.argmax()), float(counts.max() / len(self.queries))


def decide(traced: Trace, layer: int, head: int, pattern: str) -> Decision | None:
    """Take the score difference between a pattern's keys and all others apart, dimension by dimension.

    For each query the mean of q_d·k_d over the pattern's keys minus its mean over the other keys that the
    query may see; then the mean over the queries that have both. None where no query has both.
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
    """The mean of the vectors (n, d_k) at each row's places (m, n): (m, d_k)."""
    means: Values = (mask / mask.sum(axis=1, keepdims=True)) @ vectors
    return means


def attention_of(traced: Trace, layer: int, head: int, dimensions: Sequence[int]) -> Weights:
    """The head's attention with the products of these dimensions only, (1, n, n); none makes it uniform.

    The softmax is computed again: what is left out neither helps nor hinders any key.
    """
    seen, kept = traced.layer(layer), list(dimensions)
    q, k = (np.asarray(tensor[head])[:, kept] for tensor in (seen.query, seen.key))
    scaled = q @ k.T / np.float32(_divisor(traced))
    scaled[np.isneginf(np.asarray(seen.scaled_scores[head]))] = -np.inf
    exponentials = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    attention: Weights = (exponentials / exponentials.sum(axis=1, keepdims=True))[None].astype(np.float32)
    return attention


def score_with(traced: Trace, at: tuple[int, int], pattern: str, dimensions: Sequence[int]) -> float:
    """The pattern's score of head ``at`` (layer, head) with the products of these dimensions only."""
    attention = attention_of(traced, *at, dimensions)
    found = head_patterns(attention, trace_roles(traced), causal=is_causal(traced))
    return float(getattr(found, pattern)[0])


@dataclass(frozen=True, eq=False)
class Kept:
    """A pattern's score with ``counts`` (p,) dimensions: ``only`` these, and ``without`` them, (p,) each."""

    counts: NDArray[np.intp]
    only: Values
    without: Values

    def at(self, count: int) -> tuple[float, float]:
        """(only, without) for one of ``counts``."""
        place = self.counts.tolist().index(count)
        return float(self.only[place]), float(self.without[place])


def kept_scores(traced: Trace, at: tuple[int, int], pattern: str, order: Sequence[int], count: int) -> Kept:
    """The pattern's score when only the first dimensions of ``order`` are kept, and when they are left out.

    ``at`` is (layer, head). For 0, 1, 2 … dimensions in steps that grow, for ``count``, and for all.
    """
    counts = sorted({*(step for step in _STEPS if step < len(order)), count, len(order)})
    only = [score_with(traced, at, pattern, order[:kept]) for kept in counts]
    without = [score_with(traced, at, pattern, order[kept:]) for kept in counts]
    return Kept(np.array(counts), np.array(only), np.array(without))


@dataclass(frozen=True)
class BestHead:
    """The head that shows a pattern best. ``layer`` and ``head`` from 0.

    score        the pattern's score, in [0, 1]
    uniform      what a uniform head scores on the same text
    untrained    what the best head of the untrained twin scores there
    named        whether the score is clearly above both: :mod:`lab.analysis.heads.named`
    left_out     how many heads of the model were passed over as near uniform
    """

    pattern: Pattern
    layer: int
    head: int
    score: float
    uniform: float
    untrained: float
    named: bool
    left_out: int


def best_head(patterns: Patterns, pattern: Pattern, chance: Chance) -> BestHead | None:
    """Among the heads that are not near uniform, or else among all, the one with the largest score.

    ``patterns`` are (L, H), ``chance`` that of the same trace. None where the text has no case of the pattern or a
    causal model cannot show it.
    """
    scores: Values = getattr(patterns, pattern.id)
    if not np.isfinite(scores).any():
        return None
    choosing = np.nan_to_num(patterns.broad, nan=0.0) <= NEAR_UNIFORM
    eligible = choosing if choosing.any() else np.ones_like(choosing)
    ranked = np.where(eligible & np.isfinite(scores), scores, -1)
    layer, head = (int(place) for place in np.unravel_index(int(ranked.argmax()), scores.shape))
    uniform, untrained = (float(each[PATTERNS.index(pattern)]) for each in (chance.uniform, chance.untrained))
    named = clearly_above(scores_of(patterns), chance)[PATTERNS.index(pattern), layer, head]
    return BestHead(
        pattern, layer, head, float(scores[layer, head]), uniform, untrained, bool(named), int((~eligible).sum())
    )


def best_query(traced: Trace, layer: int, head: int, pattern: str) -> int:
    """The query that spends most on its keys of the pattern; the earliest of equals."""
    seen = traced.layer(layer)
    meant = pattern_keys(pattern, trace_roles(traced), causal=is_causal(traced))
    return int((np.asarray(seen.attention[head]) * meant).sum(axis=1).argmax())


@dataclass(frozen=True, eq=False)
class Walk:
    """A pattern on the head of a model that shows it best, and the few dimensions that make it.

    query              where it shows best, from 0
    decision           None where no query sees keys of both kinds
    count              how many dimensions carry half of the difference; None without a difference to carry
    only, without      the pattern's score with these dimensions only, and without them; nan without ``count``
    """

    best: BestHead
    query: int
    decision: Decision | None
    count: int | None
    only: float
    without: float


def walk(traced: Trace, patterns: Patterns, pattern: Pattern, chance: Chance) -> Walk | None:
    """After Vig 2019: the delimiter, the bag of words, the next token. None as in :func:`best_head`."""
    best = best_head(patterns, pattern, chance)
    if best is None:
        return None
    at = best.layer, best.head
    query, found = best_query(traced, *at, pattern.id), decide(traced, *at, pattern.id)
    count = None if found is None else found.needed(0.5)
    if found is None or count is None:
        return Walk(best, query, found, None, math.nan, math.nan)
    order = found.order.tolist()
    only, without = (score_with(traced, at, pattern.id, part) for part in (order[:count], order[count:]))
    return Walk(best, query, found, count, only, without)
