"""Find the clearest pattern of a head, which a page splits into dimensions first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.analysis.heads.patterns import Pattern, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.query_neurons import DECIDED, decide
from lab.analysis.heads.values import is_causal, uniform_attention
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace


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
