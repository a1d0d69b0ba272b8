"""The kinds of token that every head looks at: function words, content words, entities, far tokens, the token itself.

Each share of attention is given raw and divided by the share of a head without any preference on the
same text: half of all attention on nouns says nothing if half of the tokens are nouns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.formulas import tex
from lab.analysis.heads.values import (
    Mask,
    Values,
    Weights,
    as_heads,
    is_causal,
    keep_others,
    kept_mask,
    layers,
    stack,
    uniform_attention,
    without,
)
from lab.models.memo import once
from lab.text.tags.token_tags import trace_tags
from lab.toy.models import is_toy

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.trace import Trace

FUNCTION_WORDS = frozenset({"DET", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "PRON"})
CONTENT_WORDS = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
PUNCTUATION = frozenset({"PUNCT"})
# The dimensions that depend only on places and need no tags.
UNTAGGED = frozenset({"cls", "long_range", "self"})
FAR = 5  # tokens apart

# Heads whose values differ by less than float32 rounding are tied.
_TIE = 1e-5


@dataclass(frozen=True)
class Dimension:
    """The texts of a dimension of specialization; ``formula`` is LaTeX, ``also`` is the name in Attention Atlas."""

    id: str
    name: str
    formula: str
    reading: str
    also: str


_SHARE = r"\frac{\sum_i \sum_{j\in S} A_{ij}}{\sum_i \sum_j A_{ij}}"
SPECIALIZATIONS = (
    Dimension(
        "function_words",
        "Function words",
        _SHARE,
        "Attention to articles, prepositions, pronouns, conjunctions and auxiliaries. It counts words of these kinds. "
        "It does not say whether the head follows the grammar of the sentence.",
        "Syntax Focus",
    ),
    Dimension(
        "content_words",
        "Content words",
        _SHARE,
        "Attention to nouns, names, verbs, adjectives, adverbs and numbers.",
        "Semantics Focus",
    ),
    Dimension(
        "cls",
        "CLS",
        r"\frac1n \sum_i A_{i,1}",
        "Attention to [CLS]; in a causal model, to the first token.",
        "CLS Focus",
    ),
    Dimension(
        "punctuation", "Punctuation", _SHARE, "Attention to full stops, commas and the like.", "Punctuation Focus"
    ),
    Dimension(
        "entities", "Entities", _SHARE, "Attention to names of people, places, organisations, dates.", "Entities Focus"
    ),
    Dimension(
        "long_range",
        "Long range",
        r"\operatorname{mean}_{|i-j|\ge 5} A_{ij}",
        "The mean weight of a cell whose two tokens are five or more places apart, so it is not a share like the "
        "others.",
        "Long-Range Attention",
    ),
    Dimension("self", "Self", r"\frac1n \sum_i A_{ii}", "Attention of tokens to themselves.", "Self-Attention"),
)


_LONG_RANGE = [each.id for each in SPECIALIZATIONS].index("long_range")


@dataclass(frozen=True, eq=False)
class Specialization:
    """Seven values for each head in the order of :data:`SPECIALIZATIONS`: (H, 7) for a layer, (L, H, 7) for a trace.

    ``corrected`` is 1 if the head, like a uniform head, has no preference among the tokens that take part. ``raw`` and
    ``corrected`` are nan if the text has no token of the kind (no entity, no token five places away, no tags at all).
    ``removed`` (H,) or (L, H) is the attention that had gone to tokens left out.
    ``even`` (7,), for a trace (L, 7), has the raw values of a head without preference.
    """

    raw: Values
    corrected: Values
    removed: Values
    even: Values

    def values(self, dimension: str, corrected: bool) -> Values:
        """Return the values of the dimension with this id, (H,) or (L, H)."""
        place = [known.id for known in SPECIALIZATIONS].index(dimension)
        return (self.corrected if corrected else self.raw)[..., place]


def head_specialization(
    attention: NDArray[Any] | Tensor,
    upos: Sequence[str | None],
    entities: Sequence[str | None],
    *,
    causal: bool,
    keep: Sequence[bool] | Mask | None = None,
) -> Specialization:
    """Return the seven metrics of every head of a layer, raw and corrected.

    Raw long range is the mean weight of the cells at least 5 places apart, which is 1/n for any
    uniform head. For corrected long range, each query's weight on those cells is summed, the sums are averaged
    over the queries, and the average is divided by the same average for a uniform head.

    Parameters
    ----------
    attention
        (H, n, n), rows sum to 1.
    upos
        The universal part of speech of each token, None for special tokens (see :mod:`lab.text.tags.token_tags`).
    entities
        The entity label of each token; None or "" outside entities.
    causal
        True if only the lower triangle exists.
    keep
        (n,), false for tokens to leave out as queries and keys; rows are renormalised.

    Raises
    ------
    ValueError
        If attention has another shape, or if the tags are for another number of tokens.
    """
    one = specialization_of([as_heads(attention)], upos, entities, causal=causal, keep=keep)
    return Specialization(one.raw[0], one.corrected[0], one.removed[0], one.even[0])


def specialization_of(
    attention: Iterable[Weights],
    upos: Sequence[str | None],
    entities: Sequence[str | None],
    *,
    causal: bool,
    keep: Sequence[bool] | Mask | None = None,
) -> Specialization:
    """Return the seven metrics from the attention of each layer in turn: arrays (L, H, 7) and (L, H)."""
    kept = kept_mask(keep, len(upos))
    sets = _Sets.of(upos, entities, np.flatnonzero(kept), causal)
    found = []
    for whole in attention:
        if not whole.shape[1] == len(upos) == len(entities):
            counts = f"{len(upos)} parts of speech and {len(entities)} entity labels"
            raise ValueError(f"the attention is between {whole.shape[1]} tokens; there are {counts}.")
        inside, removed = without(whole, kept)
        parts = sets.parts(inside)
        found.append(Specialization(parts.raw, parts.corrected, removed, parts.even))
    return stack(found)


def trace_specialization(
    trace: Trace,
    upos: Sequence[str | None],
    entities: Sequence[str | None],
    *,
    keep: Sequence[bool] | Mask | None = None,
) -> Specialization:
    """Return the seven metrics of every head of a trace: arrays (L, H, 7) and (L, H)."""
    return specialization_of(layers(trace), upos, entities, causal=is_causal(trace), keep=keep)


@once
def specialization(trace: Trace, *, only_words: bool = False) -> Specialization:
    """Measure every layer with the tags of the lab's spaCy pipeline.

    A toy's letters have no tags, so its values are nan except for :data:`UNTAGGED`. ``only_words`` leaves out special
    tokens, or the first token in a model without special tokens. Raises
    :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    tags = ((None,) * len(trace),) * 2 if is_toy(trace.model) else trace_tags(trace)
    return trace_specialization(trace, *tags, keep=keep_others(trace) if only_words else None)


def relative_to_layer(values: Values) -> Values:
    """Min–max scaling over the heads of a layer, (..., H, F) -> the same shape in [0, 1].

    If all heads of a layer are equal up to float32 rounding, all values become 0.5. A nan stays nan.
    """
    low, high = values.min(axis=-2, keepdims=True), values.max(axis=-2, keepdims=True)
    apart = high - low
    tied = apart <= _TIE * np.abs(high)
    return np.where(tied, 0.5, (values - low) / np.where(tied, 1, apart))


@dataclass(frozen=True, eq=False)
class Totals:
    """The parts of the formulas, by the place of a dimension in :data:`SPECIALIZATIONS`.

    Attributes
    ----------
    members
        (7,) the number of tokens of the dimension's kind; for long range and self, the number of cells.
    total
        (H, 7) the attention of each head, added up over these tokens or cells.
    divisor
        (7,) the number that ``total`` is divided by for the raw value: m queries, or for long range the cells.
    uniform
        (7,) the ``total`` of a head without preference; 0 if the text has no token of the kind.
    """

    members: NDArray[np.int64]
    total: Values
    divisor: NDArray[np.int64]
    uniform: Values

    @property
    def raw(self) -> Values:
        """The raw values, (H, 7); nan if the text has no token of the kind."""
        return np.where(self.members, self.total / self.divisor, np.nan)

    @property
    def even(self) -> Values:
        """The raw values of a head without preference, (7,)."""
        return np.where(self.members, self.uniform / self.divisor, np.nan)

    @property
    def corrected(self) -> Values:
        """``total`` divided by the ``total`` of a head without preference, (H, 7)."""
        return np.where(self.members, self.total / np.where(self.members, self.uniform, 1), np.nan)

    def of(self, head: int) -> tuple[Total, ...]:
        """The parts of one head, in the order of :data:`SPECIALIZATIONS`."""
        numbers = zip(SPECIALIZATIONS, self.members, self.total[head], self.divisor, self.uniform, strict=True)
        return tuple(Total(each.id, int(m), float(t), int(d), float(u)) for each, m, t, d, u in numbers)


@dataclass(frozen=True)
class Total:
    """The parts of one dimension's formula for one head: see :class:`Totals`."""

    id: str
    members: int
    total: float
    divisor: int
    uniform: float

    def fill(self, corrected: bool) -> str:
        """Write the formula with these numbers, as LaTeX."""
        below, value = (tex(self.uniform), self.uniform) if corrected else (str(self.divisor), self.divisor)
        return rf"\frac{{{tex(self.total)}}}{{{below}}} = {tex(self.total / value)}"


def totals_of(
    attention: NDArray[Any] | Tensor,
    upos: Sequence[str | None],
    entities: Sequence[str | None],
    *,
    causal: bool,
    keep: Sequence[bool] | Mask | None = None,
) -> Totals:
    """Return the parts of the formulas for a layer's heads; the parameters are those of :func:`head_specialization`."""
    kept = kept_mask(keep, len(upos))
    return _Sets.of(upos, entities, np.flatnonzero(kept), causal).parts(without(as_heads(attention), kept)[0])


@dataclass(frozen=True, eq=False)
class _Sets:
    """The keys and the pairs of places that each dimension is about, among the m kept tokens."""

    keys: NDArray[np.float32]  # (m, 4), 1 for a token of the kind: function_words, content_words, punctuation, entities
    first: bool  # whether place 0 is the text's first token
    places: NDArray[np.intp]  # (m,) places in the whole text: leaving tokens out does not bring other tokens closer
    causal: bool
    far_cells: int

    @classmethod
    def of(
        cls, upos: Sequence[str | None], entities: Sequence[str | None], places: NDArray[np.intp], causal: bool
    ) -> _Sets:
        tags = [upos[i] for i in places]
        kinds = [[tag in kind for tag in tags] for kind in (FUNCTION_WORDS, CONTENT_WORDS, PUNCTUATION)]
        keys = np.array([*kinds, [bool(entities[i]) for i in places]], dtype=np.float32).T
        # Count the kept places at least FAR before each place; the places after it mirror this count.
        before = np.searchsorted(places, places - FAR, side="right")
        return cls(keys, bool(places[0] == 0), places, causal, int(before.sum()) * (1 if causal else 2))

    def parts(self, attention: Weights) -> Totals:
        """Return the parts of the formulas for heads (H, m, m)."""
        m = len(self.places)
        function_words, content_words, punctuation, entities = self.keys.sum(axis=0).astype(int).tolist()
        members = [function_words, content_words, int(self.first), punctuation, entities, self.far_cells, m]
        divisor = np.full(len(members), m)
        divisor[_LONG_RANGE] = max(self.far_cells, 1)
        return Totals(np.array(members), self._totals(attention), divisor, self._uniform)

    @cached_property
    def _uniform(self) -> Values:
        """The totals of a head without preference, (7,), which are the same for every layer."""
        found: Values = self._totals(uniform_attention(len(self.places), self.causal))[0]
        return found

    def _totals(self, attention: Weights) -> Values:
        """The attention added up over each dimension's tokens or cells, (H, 7)."""
        received = (np.ones(len(self.places), dtype=np.float32) @ attention).astype(np.float64)  # (H, m), by key
        function_words, content_words, punctuation, entities = (received @ self.keys).T
        cls = received[:, 0] * self.first
        own = attention.diagonal(0, 1, 2).sum(axis=-1, dtype=np.float64)
        far = self._far(attention, received.sum(axis=-1)) if self.far_cells else np.zeros(len(attention))
        return np.stack([function_words, content_words, cls, punctuation, entities, far, own], axis=-1)

    def _far(self, attention: Weights, total: Values) -> Values:
        """Sum the cells of tokens at least FAR places apart: all cells except those on a few diagonals."""
        near = np.zeros(len(attention))
        m = len(self.places)
        for distance in range(1 - min(FAR, m), min(FAR, m)):
            queries = np.arange(max(0, -distance), m - max(0, distance))
            close = np.abs(self.places[queries + distance] - self.places[queries]) < FAR
            near += attention.diagonal(distance, 1, 2)[:, close].sum(axis=-1, dtype=np.float64)
        # If all attention is near, rounding may leave a tiny negative number.
        return np.maximum(total - near, 0)
