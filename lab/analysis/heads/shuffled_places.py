"""Do heads that look at a neighbour find it by its word, or by its place? The places of the tokens are shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lab.models.interventions import Head
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding

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
