"""Which heads deserve the name of a pattern: those whose score is clearly above chance on the same text.

A score alone says little. A head that gives every key the same weight scores 0.82 in "bag of words" on
a sentence of nine words and 1.00 in any causal model, and heads that learned nothing score like it. So
two references stand beside each score: a uniform head, and the best head of the untrained twin, the
same architecture with random weights (:mod:`lab.models.twin`).

The rule: a head has a pattern when its score is *above chance* by at least :data:`CLEARLY` and larger
than that of every head of the twin. Above chance is (score − uniform) / (1 − uniform), the correction
of Cohen 1960 ("A coefficient of agreement for nominal scales"): 0 is what a uniform head scores, 1 the
whole pattern. From 0.5 on a head is nearer to the whole pattern than to chance. That is our choice, no
published threshold. For the next and the previous token it asks for more than the "more than 50 %" of
attention by which Clark et al. 2019, §3.1, pick out heads of BERT, as half of what chance leaves lies
above 0.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.patterns import PATTERNS, Patterns, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.values import Mask, Values, is_causal, keep_others, running_means, uniform_attention
from lab.models.catalogue import twin_of
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

MIXED = "mixed"
CLEARLY = 0.5
# Chance this near to 1 leaves no room above it.
_FULL = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Chance:
    """What each pattern of :data:`PATTERNS` scores where nothing was learned, (P,) each; nan without a case.

    Attributes
    ----------
    uniform
        A head that gives every key it may see the same weight.
    untrained
        The best of all heads of the untrained twin.
    """

    uniform: Values
    untrained: Values

    @property
    def needed(self) -> Values:
        """(P,), the score from which a head is clearly above a uniform one."""
        return self.uniform + CLEARLY * (1 - self.uniform)


def scores_of(patterns: Patterns) -> Values:
    """The scores in the order of :data:`PATTERNS`, (P, H) or (P, L, H)."""
    return np.stack([getattr(patterns, pattern.id) for pattern in PATTERNS])


def uniform_scores(trace: Trace, *, only_words: bool = False) -> Values:
    """What a uniform head scores on the tokens of ``trace``, (P,); ``only_words`` as in :func:`trace_patterns`."""
    causal, keep = is_causal(trace), keep_others(trace) if only_words else None
    even = uniform_attention(len(trace), causal)
    return scores_of(head_patterns(even, trace_roles(trace), causal=causal, keep=keep))[:, 0]


def untrained_seed(model_id: str) -> tuple[str, int]:
    """The model whose architecture the twin has, and the twin's seed: 0, or for a twin the seed after its own."""
    of = twin_of(model_id)
    return (of[0], of[1] + 1) if of else (model_id, 0)


def untrained_twin(model: LoadedModel) -> LoadedModel:
    """The twin that the heads of ``model`` are compared with; see :func:`untrained_seed`."""
    from lab.models.twin import twin

    return twin(model, untrained_seed(model.id)[1])


def best_scores(scores: Values) -> Values:
    """The largest score of any head, (P, L, H) -> (P,); nan where no head has one."""
    flat = scores.reshape(len(scores), -1)
    return np.where(np.isnan(flat).all(axis=1), np.nan, np.nan_to_num(flat, nan=-1.0).max(axis=1))


@once
def trace_chance(trace: Trace, *, only_words: bool = False) -> Chance:
    """Chance on the tokens of a trace, for which the twin reads them; ``only_words`` as in :func:`trace_patterns`."""
    from lab.models.trace import trace_encoding

    untrained = trace_patterns(trace_encoding(untrained_twin(trace.model), trace.encoding), only_words=only_words)
    return Chance(uniform_scores(trace, only_words=only_words), best_scores(scores_of(untrained)))


def above_chance(scores: Values, uniform: Values) -> Values:
    """(score − uniform) / (1 − uniform), (P, ...) and (P,) -> (P, ...): 0 at chance, 1 the whole pattern.

    −inf where a uniform head shows the whole pattern itself: nothing can be above it.
    """
    floor = uniform.reshape(-1, *[1] * (scores.ndim - 1))
    room = np.where(floor < _FULL, 1 - floor, np.nan)
    return np.where(np.isnan(room) & ~np.isnan(scores), -np.inf, (scores - floor) / room)


def clearly_above(scores: Values, chance: Chance) -> Mask:
    """Whether each score is clearly above chance by the rule of this module, (P, ...); a nan is not."""
    untrained = np.nan_to_num(chance.untrained, nan=-1.0).reshape(-1, *[1] * (scores.ndim - 1))
    passing: Mask = (above_chance(scores, chance.uniform) >= CLEARLY) & (scores > untrained)  # false for nan
    return passing


def name_scores(scores: Values, chance: Chance) -> NDArray[np.str_]:
    """The id of each head's pattern, or "mixed", by the rule of this module: (P, ...) -> (...).

    Of several patterns the one farthest above chance; of equals the one that comes first in
    :data:`PATTERNS`. ``broad`` is never a name: a uniform head is the broadest there can be.
    """
    names = np.array([pattern.id for pattern in PATTERNS] + [MIXED])
    passing = clearly_above(scores, chance)
    ranked = np.where(passing, above_chance(scores, chance.uniform), -np.inf)
    return names[np.where(passing.any(axis=0), ranked.argmax(axis=0), len(PATTERNS))]


def name_heads(patterns: Patterns, chance: Chance) -> NDArray[np.str_]:
    """A name for each head by its patterns, those of a layer (H,) or of a trace (L, H)."""
    return name_scores(scores_of(patterns), chance)


@once
def trace_names(trace: Trace) -> NDArray[np.str_]:
    """The name of every head of a trace, (L, H), with chance computed for it."""
    return name_heads(trace_patterns(trace), trace_chance(trace))


def mean_chance(uniform: Iterable[Values], untrained: Iterable[Values]) -> Chance:
    """Chance for means over sentences, from each one's uniform (P,) and twin's (P, L, H) scores.

    A sentence without a case of a pattern does not count for it. Raises ValueError without a sentence.
    """
    *_, even = running_means(uniform)
    *_, twin = running_means(untrained)
    return Chance(even, best_scores(twin))
