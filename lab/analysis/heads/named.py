"""Name heads by a pattern if their score is clearly above chance on the same text.

A score alone says little. A head that gives every key the same weight scores 0.82 in "bag of words" on
a sentence of nine words and 1.00 in any causal model, and so do heads that learned nothing. So each
score has two references: a uniform head, and the best head of the untrained twin, the same architecture
with random weights (:mod:`lab.models.twin`).

The rule: a head has a pattern if its score is *above chance* by at least :data:`CLEARLY` and larger than the score of
every head of the twin. The value above chance is (score − uniform) / (1 − uniform), the correction of Cohen 1960 ("A
coefficient of agreement for nominal scales"): 0 for a uniform head, 1 for the whole pattern. From 0.5 on, a head is
nearer to the whole pattern than to chance. This threshold is the lab's own choice and was not published. For the next
and the previous token, the threshold is stricter than the "more than 50 %" of attention by which Clark et al. 2019,
§3.1, select heads of BERT, because the middle between chance and 1 is above 0.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.patterns import PATTERNS, Patterns, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.values import Mask, Values, is_causal, keep_others, running_means, uniform_attention
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

MIXED = "mixed"
CLEARLY = 0.5
# From this chance score on, no score counts as above chance.
_FULL = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Chance:
    """The score of each pattern of :data:`PATTERNS` for heads that learned nothing, (P,) each; nan without a case.

    Attributes
    ----------
    uniform
        The scores of a head that gives the same weight to every key that it may see.
    untrained
        The best scores among all heads of the untrained twin.
    """

    uniform: Values
    untrained: Values

    @property
    def needed(self) -> Values:
        """The least scores that are clearly above the uniform head's, (P,)."""
        return self.uniform + CLEARLY * (1 - self.uniform)


def scores_of(patterns: Patterns) -> Values:
    """Return the scores in the order of :data:`PATTERNS`, (P, H) or (P, L, H)."""
    return np.stack([getattr(patterns, pattern.id) for pattern in PATTERNS])


def uniform_scores(trace: Trace, *, only_words: bool = False) -> Values:
    """The scores of a uniform head on the tokens of ``trace``, (P,); ``only_words`` as in :func:`trace_patterns`."""
    causal, keep = is_causal(trace), keep_others(trace) if only_words else None
    even = uniform_attention(len(trace), causal)
    return scores_of(head_patterns(even, trace_roles(trace), causal=causal, keep=keep))[:, 0]


def best_scores(scores: Values) -> Values:
    """Return the largest score of any head, (P, L, H) -> (P,); nan if no head has a score."""
    flat = scores.reshape(len(scores), -1)
    return np.where(np.isnan(flat).all(axis=1), np.nan, np.nan_to_num(flat, nan=-1.0).max(axis=1))


@once
def trace_chance(trace: Trace, *, only_words: bool = False) -> Chance:
    """Return the chance scores on a trace's tokens; the twin also reads these tokens.

    ``only_words`` as in :func:`trace_patterns`.
    """
    from lab.models.trace import trace_encoding
    from lab.models.twin import untrained_twin

    untrained = trace_patterns(trace_encoding(untrained_twin(trace.model), trace.encoding), only_words=only_words)
    return Chance(uniform_scores(trace, only_words=only_words), best_scores(scores_of(untrained)))


def above_chance(scores: Values, uniform: Values) -> Values:
    """(score − uniform) / (1 − uniform), (P, ...) and (P,) -> (P, ...): 0 at chance, 1 the whole pattern.

    −inf if a uniform head already has the whole pattern, so that no score can be above chance.
    """
    floor = uniform.reshape(-1, *[1] * (scores.ndim - 1))
    room = np.where(floor < _FULL, 1 - floor, np.nan)
    return np.where(np.isnan(room) & ~np.isnan(scores), -np.inf, (scores - floor) / room)


def clearly_above(scores: Values, chance: Chance) -> Mask:
    """Return a mask of the scores that are clearly above chance by the rule of this module, (P, ...); false for nan."""
    untrained = np.nan_to_num(chance.untrained, nan=-1.0).reshape(-1, *[1] * (scores.ndim - 1))
    passing: Mask = (above_chance(scores, chance.uniform) >= CLEARLY) & (scores > untrained)  # false for nan
    return passing


def name_scores(scores: Values, chance: Chance) -> NDArray[np.str_]:
    """Return the id of each head's pattern, or "mixed", by the rule of this module: (P, ...) -> (...).

    If a head has several patterns, the one farthest above chance names it; in a tie, the first in
    :data:`PATTERNS`. ``broad`` is never a name, because a uniform head is as broad as possible.
    """
    names = np.array([pattern.id for pattern in PATTERNS] + [MIXED])
    passing = clearly_above(scores, chance)
    ranked = np.where(passing, above_chance(scores, chance.uniform), -np.inf)
    return names[np.where(passing.any(axis=0), ranked.argmax(axis=0), len(PATTERNS))]


def name_heads(patterns: Patterns, chance: Chance) -> NDArray[np.str_]:
    """Return a name for each head by its patterns, (H,) for a layer or (L, H) for a trace."""
    return name_scores(scores_of(patterns), chance)


@once
def trace_names(trace: Trace) -> NDArray[np.str_]:
    """Return the name of every head of a trace, (L, H), with the chance scores of the same trace."""
    return name_heads(trace_patterns(trace), trace_chance(trace))


def mean_chance(uniform: Iterable[Values], untrained: Iterable[Values]) -> Chance:
    """Return the chance scores for means over sentences, from each sentence's uniform (P,) and twin's (P, L, H) scores.

    A sentence without a case of a pattern does not count for that pattern. Raises ValueError without a sentence.
    """
    *_, even = running_means(uniform)
    *_, twin = running_means(untrained)
    return Chance(even, best_scores(twin))
