"""Score each head of a toy by the pattern that the toy's task needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.patterns import average_patterns
from lab.analysis.heads.values import Values, as_heads, layers
from lab.models.memo import once
from lab.models.trace import Trace, trace
from lab.toy.data import as_text, generate

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.loading import LoadedModel
    from lab.toy.training import Plan

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
