"""Find a model's best head for a pattern or a head's clearest pattern, and the few dimensions behind it (Vig 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.named import CLEARLY, Chance, clearly_above, scores_of, trace_chance
from lab.analysis.heads.patterns import PATTERNS, Pattern, Patterns, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.query_neurons import DECIDED, Decision, decide, pattern_keys, score_with
from lab.analysis.heads.values import Values, is_causal, uniform_attention
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

# A head above this share of the largest possible entropy is too uniform to be an example of a pattern.
NEAR_UNIFORM = 0.9


@dataclass(frozen=True)
class BestHead:
    """The head with the best score in a pattern. ``layer`` and ``head`` count from 0.

    score        the pattern's score, in [0, 1]
    uniform      the score of a uniform head on the same text
    untrained    the score of the untrained twin's best head on the same text
    named        true if the score is clearly above ``uniform`` and ``untrained``: :mod:`lab.analysis.heads.named`
    left_out     the number of heads that were passed over as nearly uniform
    """

    pattern: Pattern
    layer: int
    head: int
    score: float
    uniform: float
    untrained: float
    named: bool
    left_out: int

    def would_name(self, score: float) -> bool:
        """True if a head with this score would be named after the pattern."""
        return score >= self.uniform + CLEARLY * (1 - self.uniform) and score > self.untrained


def best_head(patterns: Patterns, pattern: Pattern, chance: Chance) -> BestHead | None:
    """Find the head with the largest score among the heads that are not nearly uniform; if all are, among all heads.

    ``patterns`` are (L, H), and ``chance`` is from the same trace. None if the text has no case of the pattern, or if a
    causal model cannot have it.
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
    """Return the query with the largest weight on the pattern's keys, the earliest query in a tie."""
    seen = traced.layer(layer)
    meant = pattern_keys(pattern, trace_roles(traced), causal=is_causal(traced))
    return int((np.asarray(seen.attention[head]) * meant).sum(axis=1).argmax())


@dataclass(frozen=True, eq=False)
class Walk:
    """A model's best head for a pattern, and the few dimensions that make the pattern.

    query              the query with the largest weight on the pattern's keys, from 0
    decision           the parts of the dimensions; None if no query sees keys of both kinds
    count              the number of dimensions that carry half of the difference; None without a positive difference
    only, without      the pattern's score with these dimensions only, and without them; nan without ``count``
    """

    best: BestHead
    query: int
    decision: Decision | None
    count: int | None
    only: float
    without: float


@once
def walk(traced: Trace, pattern: Pattern) -> Walk | None:
    """Return the walk for a pattern (Vig 2019: delimiter, bag of words, next token); None as in :func:`best_head`."""
    best = best_head(trace_patterns(traced), pattern, trace_chance(traced))
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


def neighbour(traced: Trace) -> str:
    """Return the id of the pattern of looking at a neighbour: the next token, or the previous one in a causal model."""
    return "previous_token" if is_causal(traced) else "next_token"


def neighbours_head(traced: Trace) -> tuple[int, int]:
    """The best head (layer and head from 0) for :func:`neighbour`; (0, 0) if the text has no case of the pattern."""
    (pattern,) = (each for each in PATTERNS if each.id == neighbour(traced))
    found = walk(traced, pattern)
    return (0, 0) if found is None else (found.best.layer, found.best.head)


@dataclass(frozen=True)
class OwnPattern:
    """A head's clearest pattern, its score, and a uniform head's score on the same text."""

    pattern: Pattern
    score: float
    uniform: float


@once
def own_pattern(traced: Trace, layer: int, head: int) -> OwnPattern | None:
    """Find the pattern whose score is farthest above a uniform head's, among patterns that dimensions of q·k can carry.

    ``layer`` and ``head`` count from 0. None if the head scores in no pattern of
    :data:`lab.analysis.heads.query_neurons.DECIDED` higher than a uniform head.
    """
    causal, patterns = is_causal(traced), trace_patterns(traced)
    even = head_patterns(uniform_attention(len(traced), causal), trace_roles(traced), causal=causal)
    scored = [
        OwnPattern(pattern, float(getattr(patterns, pattern.id)[layer, head]), float(getattr(even, pattern.id)[0]))
        for pattern in DECIDED
    ]
    above = [each for each in scored if math.isfinite(each.score) and each.score > each.uniform]
    for each in sorted(above, key=lambda each: each.uniform - each.score):
        found = decide(traced, layer, head, each.pattern.id)
        if found is not None and found.total > 0:
            return each
    return None
