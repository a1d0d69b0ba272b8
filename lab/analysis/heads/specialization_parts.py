"""The parts of the seven specialization metrics of one head: the sum of attention and its divisor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.specialization import CONTENT_WORDS, FAR, FUNCTION_WORDS, PUNCTUATION, SPECIALIZATIONS
from lab.analysis.heads.values import Mask, Values, as_heads, kept_mask, uniform_attention, without

Tags = Sequence[str | None]
KINDS = {"function_words": FUNCTION_WORDS, "content_words": CONTENT_WORDS, "punctuation": PUNCTUATION}


@dataclass(frozen=True)
class MetricPart:
    """One metric of one head.

    Attributes
    ----------
    id
        The id of the dimension in :data:`lab.analysis.heads.specialization.SPECIALIZATIONS`.
    members
        The number of tokens of the dimension's kind; for long range and self, the number of cells.
    total
        The attention added up over these tokens or cells.
    divisor
        The number that ``total`` is divided by for the raw value: n queries, or for long range the number of cells.
    uniform
        The ``total`` of a head without preference; 0 if the text has no token of the kind.
    """

    id: str
    members: int
    total: float
    divisor: int
    uniform: float

    @property
    def raw(self) -> float:
        """The raw value; nan if the text has no token of the kind."""
        return self.total / self.divisor if self.members else float("nan")

    @property
    def uniform_raw(self) -> float:
        """The raw value of a head without preference."""
        return self.uniform / self.divisor if self.members else float("nan")

    @property
    def corrected(self) -> float:
        """``total`` divided by the ``total`` of a head without preference."""
        return self.total / self.uniform if self.members else float("nan")


def specialization_parts(
    attention: NDArray[Any], upos: Tags, entities: Tags, *, causal: bool, keep: Sequence[bool] | Mask | None = None
) -> tuple[MetricPart, ...]:
    """Return the metrics of one map (n, n) in the order of :data:`SPECIALIZATIONS`, with their parts.

    The numbers agree with :func:`lab.analysis.heads.specialization.head_specialization`, which takes all
    heads at once, with the same ``keep``.
    """
    kept = kept_mask(keep, len(attention))
    weights = without(as_heads(np.asarray(attention)[None]), kept)[0][0].astype(np.float64)
    even = uniform_attention(len(weights), causal)[0].astype(np.float64)
    chosen = np.ix_(kept, kept)
    cells = {each.id: cells_of(each.id, upos, entities, causal)[chosen] for each in SPECIALIZATIONS}
    return tuple(_part(each.id, weights, even, cells[each.id]) for each in SPECIALIZATIONS)


def _part(dimension: str, weights: Values, even: Values, cells: Mask) -> MetricPart:
    """Compute the parts of one dimension, which adds up the attention in the true cells of ``cells`` (m, m)."""
    n = len(weights)
    members = int(cells.any(axis=0).sum()) if dimension not in ("long_range", "self") else int(cells.sum())
    divisor = max(members, 1) if dimension == "long_range" else n
    return MetricPart(dimension, members, float(weights[cells].sum()), divisor, float(even[cells].sum()))


def cells_of(dimension: str, upos: Sequence[str | None], entities: Sequence[str | None], causal: bool) -> Mask:
    """Return the cells of a map that a dimension adds up, (n, n): columns for kinds of token, bands for distances."""
    n = len(upos)
    places = np.arange(n)
    exists: Mask = np.tri(n, dtype=np.bool_) if causal else np.ones((n, n), dtype=np.bool_)
    if dimension == "self":
        return np.eye(n, dtype=np.bool_)
    if dimension == "long_range":
        return exists & (np.abs(places[:, None] - places) >= FAR)
    if dimension == "cls":
        keys = places == 0
    elif dimension == "entities":
        keys = np.array([bool(label) for label in entities])
    else:
        keys = np.array([tag in KINDS[dimension] for tag in upos])
    return exists & keys
