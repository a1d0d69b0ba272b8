"""The head of a model that shows a pattern best, and the few dimensions that make it (after Vig 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.named import CLEARLY, Chance, clearly_above, scores_of, trace_chance
from lab.analysis.heads.neurons import Decision, decide, pattern_keys, score_with
from lab.analysis.heads.patterns import PATTERNS, Pattern, Patterns, trace_patterns, trace_roles
from lab.analysis.heads.values import Values, is_causal
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

# Of the largest possible entropy: a head above it chooses so little that it is not taken as an example.
NEAR_UNIFORM = 0.9


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

    def would_name(self, score: float) -> bool:
        """Whether ``score`` is clearly above both, as that of a head must be that is named after the pattern."""
        return score >= self.uniform + CLEARLY * (1 - self.uniform) and score > self.untrained


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


@once
def walk(traced: Trace, pattern: Pattern) -> Walk | None:
    """After Vig 2019: the delimiter, the bag of words, the next token. None as in :func:`best_head`."""
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
    """The id of the pattern of looking at the word beside: the next one, or what a causal model can see."""
    return "previous_token" if is_causal(traced) else "next_token"


def neighbours_head(traced: Trace) -> tuple[int, int]:
    """Layer and head (from 0) that show :func:`neighbour` best; the very first where the text has no case of it."""
    (pattern,) = (each for each in PATTERNS if each.id == neighbour(traced))
    found = walk(traced, pattern)
    return (0, 0) if found is None else (found.best.layer, found.best.head)
