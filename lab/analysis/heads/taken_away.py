"""Heads of a run that is told no places, or no segments: what is left of what they did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.named import clearly_above, scores_of, trace_chance
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.analysis.heads.values import Values
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

TAKEN_AWAY = POSITIONS, SEGMENTS = "Positions", "Segments"
# What heads can do only as they are told places, or segments (Vig 2019).
_NEEDS = {POSITIONS: "previous_token", SEGMENTS: "bag_of_words"}


@dataclass(frozen=True)
class Lost:
    """The head that shows a pattern best, before and after something was taken away. Layers and heads from 0.

    ``uniform`` is what a head scores that attends to all tokens alike; ``clearly``: the head is clearly above chance,
    by the rule of :mod:`lab.analysis.heads.named`.
    """

    layer: int
    head: int
    before: float
    after: float
    uniform: float
    clearly: bool


@once
def without(trace: Trace, taken: str) -> Trace:
    """The same tokens through the same model, whose tables of positions or of segments hold zeros."""
    from lab.models.trace import trace_encoding

    changes = replace(
        trace.interventions,
        no_positions=trace.interventions.no_positions or taken == POSITIONS,
        no_segments=trace.interventions.no_segments or taken == SEGMENTS,
    )
    return trace_encoding(trace.model, trace.encoding, changes)


@once
def lost(trace: Trace, taken: str) -> Lost | None:
    """The best previous-token head without positions, the best bag-of-words head without segments; None without one."""
    place = [pattern.id for pattern in PATTERNS].index(_NEEDS[taken])
    before: Values = scores_of(trace_patterns(trace))
    after = scores_of(trace_patterns(without(trace, taken)))[place]
    chance = trace_chance(trace)
    if np.isnan(before[place]).all():
        return None
    best = int(np.nanargmax(before[place]))
    layer, head = divmod(best, before.shape[2])
    return Lost(
        layer,
        head,
        float(before[place, layer, head]),
        float(after[layer, head]),
        float(chance.uniform[place]),
        bool(clearly_above(before, chance)[place, layer, head]),
    )
