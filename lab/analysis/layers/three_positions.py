"""One word at many places, with its position told to the model in three ways: two add a vector, one rotates.

learned    x + E[p]: the model's own sum, without segment and LayerNorm (Devlin et al. 2019, figure 2)
sinusoids  √d · x + PE(p) (Vaswani et al. 2017, §3.4 and 3.5)
rotary     R(p) · x, as :func:`lab.models.forward.rotate` turns queries and keys (Su et al. 2021, §3.2.2)

Here x is a row of the token table, in the place of a query or a key. Positions count from 0.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch

from lab.analysis.layers.embeddings import position_rows
from lab.analysis.layers.positions import Values, similarity, sinusoids
from lab.models import forward
from lab.models.trace import Trace

Way = Literal["learned", "sinusoids", "rotary"]


def ways(trace: Trace) -> tuple[Way, ...]:
    """Return the ways that can be compared in this model; a model without a table of positions has only two."""
    computed: tuple[Way, ...] = ("sinusoids", "rotary")
    return computed if trace.model.weights.embeddings.position is None else ("learned", *computed)


def turned(vector: Values, count: int, base: float) -> Values:
    """``vector`` (d,) rotated for positions 0 to ``count`` - 1, (count, d or d + 1); an odd width gets one more 0."""
    rows = torch.tensor(np.pad(vector, (0, len(vector) % 2))).expand(count, -1)
    found: Values = forward.rotate(rows, base).numpy()
    return found


def placed(trace: Trace, token: int, way: Way, count: int, base: float) -> Values:
    """Return the vectors for the word of ``token`` at the positions 0 to ``count`` - 1, (count, d).

    Raises ValueError for "learned" if the model's table has fewer than ``count`` rows.
    """
    vector = trace.embeddings.token[token].numpy().astype(np.float64)
    if way == "rotary":
        return turned(vector, count, base)
    if way == "learned":
        rows = position_rows(trace.model, count)
        if len(rows) < count:
            raise ValueError(f"{trace.model.id} has learned {len(rows)} positions, not {count}.")
        found: Values = vector + rows
        return found
    width = len(vector) + len(vector) % 2
    return math.sqrt(width) * np.pad(vector, (0, len(vector) % 2)) + sinusoids(np.arange(count), width, base)


def cosines(trace: Trace, tokens: tuple[int, int], way: Way, count: int, base: float) -> Values:
    """Return the cosines between the first of ``tokens`` at position p and the second at position r, (count, count)."""
    first, second = (placed(trace, token, way, count, base) for token in tokens)
    return similarity(np.concatenate([first, second]))[: len(first), len(first) :]


def by_offset(pairs: Values) -> tuple[Values, Values]:
    """Least and largest value of ``pairs`` (P, P) at each offset r - p from -(P - 1) to P - 1, each (2P - 1,).

    The least and the largest are equal if the value depends only on the offset.
    """
    diagonals = [np.diagonal(pairs, offset) for offset in range(1 - len(pairs), len(pairs))]
    return np.array([each.min() for each in diagonals]), np.array([each.max() for each in diagonals])
