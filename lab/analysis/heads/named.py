"""Name heads by a pattern if their score is clearly above chance on the same text: in a model, and in a toy.

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

Heads that look at a neighbour find it by its word or by its place; shuffled places tell which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.heads.patterns import PATTERNS, Patterns, average_patterns, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.values import (
    Mask,
    Values,
    as_heads,
    is_causal,
    keep_others,
    layers,
    running_means,
    uniform_attention,
)
from lab.models.interventions import Head
from lab.models.memo import once
from lab.models.trace import Trace, trace, trace_encoding
from lab.toy.data import as_text, generate

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.loading import LoadedModel
    from lab.toy.training import Plan

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


INDUCTION = "induction"
# The number of sentences for the mean score of a toy's head, and a seed that learners cannot choose.
SCORED, _SCORED_SEED = 40, 10_000


def follower_mass(attention: NDArray[Any] | Tensor, token_ids: Sequence[int]) -> Values:
    """Return the mean attention of each head to the token that followed the current one last time, (H,), in [0, 1].

    This is the induction score of Olsson et al. 2022 for any sentence, not only for a repeated one: the mean,
    over the queries whose token occurred before, of the weight at the key after the token's last occurrence;
    nan if no token occurs twice. ``attention`` is (H, n, n).
    """
    weights = as_heads(attention)
    latest: dict[int, int] = {}
    found: list[tuple[int, int]] = []
    for place, token in enumerate(token_ids):
        if token in latest:
            found.append((place, latest[token] + 1))
        latest[token] = place
    if not found:
        return np.full(len(weights), np.nan)
    queries, keys = np.array(found).T
    mean: Values = weights[:, queries, keys].mean(axis=-1, dtype=np.float64)
    return mean


@once
def toy_scores(toy: LoadedModel, plan: Plan, pattern: str) -> Values:
    """Compute :func:`pattern_scores` over sentences like the training sentences of ``plan``, (L, H)."""
    others = generate(plan.vocabulary, plan.max_length, SCORED, _SCORED_SEED).sentences
    return pattern_scores([trace(toy, as_text(each)) for each in others], pattern)


def pattern_scores(traces: Sequence[Trace], pattern: str) -> Values:
    """Return the mean score of every head over some sentences, (L, H).

    ``pattern`` is the id of a pattern of :mod:`lab.analysis.heads.patterns`, or ``induction``. Sentences without a case
    of the pattern do not count; nan if no sentence has a case. Raises ValueError without traces, AttributeError for an
    unknown pattern.
    """
    if pattern != INDUCTION:
        found: Values = getattr(average_patterns(traces), pattern)
        return found
    if not traces:
        raise ValueError("there are no traces to average.")
    scores = np.stack([[follower_mass(part, trace.token_ids) for part in layers(trace)] for trace in traces])
    counted = ~np.isnan(scores)
    total, cases = np.where(counted, scores, 0).sum(axis=0), counted.sum(axis=0)
    return np.where(cases, total / np.maximum(cases, 1), np.nan)


# The random orders over which the weights are averaged.
ORDERS = range(10)


@dataclass(frozen=True)
class Followed:
    """Mean weights that heads give, over their rows: to the neighbour as it is, and with the places shuffled.

    ``before`` is the weight to the neighbour in the text in the run as it is; ``text`` is the same with the places
    shuffled, and ``place`` the weight to the token that then has the neighbouring place.
    """

    before: float
    text: float
    place: float


def with_places(trace: Trace, order: Sequence[int]) -> Trace:
    """Run the same tokens, where token i gets the vector of place ``order[i]``.

    Raises ValueError for a model without vectors of places.
    """
    model = trace.model
    embeddings = model.weights.embeddings
    if embeddings.position is None:
        raise ValueError(f"{model.id} has no vectors of places.")
    position = embeddings.position.clone()
    position[: len(order)] = position[torch.tensor(order)]
    changed = replace(model.weights, embeddings=replace(embeddings, position=position))
    return trace_encoding(replace(model, weights=changed), trace.encoding, trace.interventions)


@once
def followed(trace: Trace, heads: tuple[Head, ...], distance: int) -> Followed:
    """Measure what ``heads`` follow that look at the token ``distance`` away (−1: the token before).

    A causal model cannot look at later tokens, so only the neighbours that it can see count.
    """
    n = len(trace)
    places = range(max(0, -distance), min(n, n - distance))
    before = [_weight(trace, head, [(at, at + distance) for at in places]) for head in heads]
    text, place = [], []
    for seed in ORDERS:
        order = np.random.default_rng(seed).permutation(n).tolist()
        run, at = with_places(trace, order), {each: token for token, each in enumerate(order)}
        pairs = [(at[each], at[each + distance]) for each in places]
        if trace.model.config.causal:
            pairs = [(query, key) for query, key in pairs if key < query]
        text += [_weight(run, head, [(each, each + distance) for each in places]) for head in heads]
        place += [_weight(run, head, pairs) for head in heads]
    return Followed(*(float(np.nanmean(each)) for each in (before, text, place)))


def _weight(run: Trace, head: Head, pairs: Sequence[tuple[int, int]]) -> float:
    """The mean weight over (query, key) pairs; nan without pairs."""
    weights = run.layer(head[0]).attention[head[1]]
    return float(np.mean([float(weights[pair]) for pair in pairs])) if pairs else float("nan")
