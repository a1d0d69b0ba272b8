"""Measure named patterns of heads: looking at the next token, at [SEP], at all tokens alike …

The patterns come from Vig 2019 ("A Multiscale Visualization of Attention"), Clark et al. 2019
("What Does BERT Look At?", §3) and Kovaleva et al. 2019 ("Revealing the Dark Secrets of BERT", §4.1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import (
    Mask,
    Values,
    Weights,
    as_heads,
    chunks,
    even_spread,
    is_causal,
    join,
    keep_others,
    kept_mask,
    layer_groups,
    row_entropy,
    row_lengths,
    row_sums,
    running_means,
    without,
)
from lab.models.memo import once
from lab.text.alignment import word_pieces

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.encoding import Encoding
    from lab.models.trace import Trace


@dataclass(frozen=True)
class Pattern:
    """The texts that explain a pattern. :mod:`lab.analysis.heads.named` decides which heads have the pattern."""

    id: str
    name: str
    formula: str
    reading: str


# If two scores are equal, the pattern that comes first in this order counts.
PATTERNS = (
    Pattern(
        "broad",
        "Broad",
        r"\operatorname{mean}_i\ \frac{-\sum_j A_{ij} \ln A_{ij}}{\ln \ell_i}",
        "Attends to nearly all tokens alike: its rows are close to uniform.",
    ),
    Pattern("next_token", "Next token", r"\operatorname{mean}_{i<n}\ A_{i,i+1}", "Attends to the token that follows."),
    Pattern(
        "previous_token",
        "Previous token",
        r"\operatorname{mean}_{i>1}\ A_{i,i-1}",
        "Attends to the token before.",
    ),
    Pattern(
        "same_word",
        "Same or related word",
        r"\operatorname{mean}_{i:\,k_i>1}\ \min\Bigl(1,\ \tfrac{k_i}{k_i-1} \sum_{j\sim i,\,j\neq i} A_{ij}\Bigr)",
        "Attends to other places of the same word, or to other pieces of it.",
    ),
    Pattern(
        "delimiter",
        "Delimiter",
        r"\operatorname{mean}_{i\notin D}\ \sum_{j\in D} A_{ij}",
        "Attends to the delimiters, [CLS] and [SEP]; in a causal model, to the first token, which is often an "
        "attention sink: it takes attention whatever it says (Xiao et al. 2024).",
    ),
    Pattern(
        "bag_of_words",
        "Bag of words",
        r"\operatorname{mean}_i\ \sum_{j\in s(i)} \min\Bigl(A_{ij},\ \tfrac1{|s(i)|}\Bigr)",
        "Attends to all words of the token’s own segment alike, whatever their order, and to nothing else.",
    ),
)


@dataclass(frozen=True, eq=False)
class Roles:
    """The relations between the tokens of a sequence.

    Attributes
    ----------
    same
        (n, n) bool, true if two different places hold the same or a related word.
    delimiters
        (n,) bool, the special tokens; in a causal model also the first token.
    segments
        (n,), the segment of each token; -1 for special tokens, which belong to no segment.
    """

    same: Mask
    delimiters: Mask
    segments: NDArray[np.int64]

    def among(self, places: NDArray[np.intp]) -> Roles:
        """Return the roles of the tokens at ``places`` and of no other tokens."""
        return Roles(self.same[np.ix_(places, places)], self.delimiters[places], self.segments[places])


@dataclass(frozen=True, eq=False)
class Patterns:
    """Scores in [0, 1], (H,) for a layer or (L, H) for a trace; nan if the text has no case of a pattern."""

    broad: Values
    next_token: Values
    previous_token: Values
    same_word: Values
    delimiter: Values
    bag_of_words: Values


def token_roles(
    words: Sequence[str | None],
    token_ids: Sequence[int],
    special: Sequence[bool],
    segments: Sequence[int],
    *,
    causal: bool,
) -> Roles:
    """Derive the roles from the words, ids, special marks and segments of n tokens.

    Two tokens are related if their words have the same spelling apart from case (as for pieces of one
    word), or if their ids are equal; special tokens are related to nothing.
    """
    own, ids, is_special = np.array([w or "" for w in words]), np.asarray(token_ids), np.asarray(special, dtype=bool)
    alike = ((own[:, None] == own) & (own != "")) | (ids[:, None] == ids)
    alike &= ~is_special & ~is_special[:, None]
    np.fill_diagonal(alike, False)
    delimiters = is_special.copy()
    delimiters[0] |= causal
    return Roles(alike, delimiters, np.where(is_special, -1, np.asarray(segments)))


def encoding_words(encoding: Encoding) -> tuple[str | None, ...]:
    """Return for each token the word to which it belongs, case folded; None for special tokens."""
    words: list[str | None] = [None] * len(encoding)
    for pieces in word_pieces(encoding.word_ids):
        text = encoding.pair if encoding.in_pair[pieces[0]] else encoding.text
        spelling = (text or "")[encoding.offsets[pieces[0]][0] : encoding.offsets[pieces[-1]][1]]
        for piece in pieces:
            words[piece] = spelling.strip().casefold()
    return tuple(words)


def trace_roles(trace: Trace) -> Roles:
    """Return the roles of a trace's tokens; its segments are the two texts of a pair."""
    seen = trace.encoding
    segments = [int(second) for second in seen.in_pair]
    return token_roles(encoding_words(seen), seen.token_ids, seen.special, segments, causal=is_causal(trace))


def head_patterns(
    attention: NDArray[Any] | Tensor, roles: Roles, *, causal: bool, keep: Sequence[bool] | Mask | None = None
) -> Patterns:
    """Return the score of each pattern for every head of a layer.

    Scores for the next and the previous token are means over the queries that have such a neighbour. ``same_word``
    divides the weight on the other places of a word by (k - 1)/k, the weight of an even spread over all k places of the
    word, with the token's own. ``delimiter`` is the weight that words give to delimiters. ``bag_of_words`` is the
    overlap of each row with an even spread over the words of the token's own segment, 1 minus their total variation
    distance: a head with one key inside the segment scores 1/size. ``broad`` is the mean of row entropy divided by its
    maximum.

    Parameters
    ----------
    attention
        (H, n, n), rows sum to 1.
    roles
        From :func:`token_roles` or :func:`trace_roles`.
    causal
        True if only the lower triangle exists; then there is no next token, and a row may only be compared with keys up
        to its own.
    keep
        (n,), false for tokens to leave out as queries and keys; rows are renormalised. Two tokens with a left-out token
        between them do not count as neighbours.

    Raises
    ------
    ValueError
        If attention has another shape, or if the roles are for another number of tokens.
    """
    whole = as_heads(attention)
    n = whole.shape[1]
    if roles.same.shape != (n, n) or len(roles.delimiters) != n or len(roles.segments) != n:
        raise ValueError(f"the attention is between {n} tokens, the roles are of {len(roles.delimiters)}.")
    kept = kept_mask(keep, n)
    places = np.flatnonzero(kept)
    weights, roles = without(whole, kept)[0], roles.among(places)
    cap = _even_share(roles.segments, causal)
    lengths = row_lengths(len(places), causal)
    return Patterns(
        broad=np.concatenate([even_spread(row_entropy(part), lengths) for part in chunks(weights)]),
        next_token=_neighbours(weights, places, None if causal else 1),  # a causal query cannot see its next token
        previous_token=_neighbours(weights, places, -1),
        same_word=_same_word(weights, np.tril(roles.same) if causal else roles.same),
        delimiter=_delimiter_mass(weights, roles.delimiters),
        bag_of_words=np.concatenate([_overlap(part, cap) for part in chunks(weights)]),
    )


def same_word_cases(trace: Trace) -> int:
    """Count the tokens that can look at another occurrence of their word, or at another piece of the word."""
    same = trace_roles(trace).same
    return int((np.tril(same) if is_causal(trace) else same).any(axis=1).sum())


@once
def trace_patterns(trace: Trace, *, only_words: bool = False) -> Patterns:
    """Return the patterns of every head of a trace: arrays (L, H).

    ``only_words`` leaves out special tokens, or the first token in a model without special tokens.
    """
    roles, causal, keep = trace_roles(trace), is_causal(trace), keep_others(trace) if only_words else None
    found = [head_patterns(attention, roles, causal=causal, keep=keep) for attention in layer_groups(trace)]
    return join(found, trace.model.config.heads)


def average_patterns(traces: Iterable[Trace]) -> Patterns:
    """Return the mean over sentences; a sentence without a case of a pattern does not count for that pattern.

    Raises ValueError if there are no traces.
    """
    means = deque(running_means(pattern_array(trace_patterns(trace)) for trace in traces), maxlen=1)
    if not means:
        raise ValueError("there are no traces to average.")
    return Patterns(*means[0])


def pattern_array(patterns: Patterns) -> Values:
    """Return the fields of :class:`Patterns` stacked in their order, (6, H) or (6, L, H)."""
    return np.stack([getattr(patterns, field.name) for field in fields(patterns)])


def _neighbours(attention: Weights, places: NDArray[np.intp], distance: int | None) -> Values:
    """Mean weight of the key ``distance`` away, over queries with such a key; ``places`` are the tokens' positions."""
    heads = len(attention)
    if distance is None or not (beside := np.diff(places) == 1).any():
        return np.full(heads, np.nan)
    return attention.diagonal(distance, 1, 2)[:, beside].mean(axis=-1, dtype=np.float64)


def _same_word(attention: Weights, same: Mask) -> Values:
    """Return the mean of the share described in :func:`head_patterns`, over the queries with related keys."""
    queries, keys = np.nonzero(same)
    if not len(queries):
        return np.full(len(attention), np.nan)
    _, starts, others = np.unique(queries, return_index=True, return_counts=True)
    mass = np.add.reduceat(attention[:, queries, keys].astype(np.float64), starts, axis=1)
    return np.minimum(mass * (others + 1) / others, 1).mean(axis=-1)


def _delimiter_mass(attention: Weights, delimiters: Mask) -> Values:
    """Return the mean weight that words give to delimiters."""
    if delimiters.all() or not delimiters.any():
        return np.full(len(attention), np.nan)
    received: Values = attention[:, ~delimiters][..., delimiters].mean(axis=1, dtype=np.float64).sum(-1)
    return received


def _even_share(segments: NDArray[np.int64], causal: bool) -> NDArray[np.float32]:
    """For each query that is a word, an even spread over the words of its segment that the query may see, (n, n).

    Rows of queries that see only one word are left out, because these queries have no choice.
    """
    inside = (segments[:, None] == segments) & (segments >= 0)
    if causal:
        inside = np.tril(inside)
    size = inside.sum(axis=1, keepdims=True)
    share: NDArray[np.float32] = np.where(size > 1, inside / np.maximum(size, 1), 0).astype(np.float32)
    return share


def _overlap(attention: Weights, share: NDArray[np.float32]) -> Values:
    """Return the sum over keys of min(attention, share), averaged over the non-empty rows of ``share``."""
    used = share.any(axis=1)
    if not used.any():
        return np.full(len(attention), np.nan)
    return row_sums(np.minimum(attention, share))[:, used].mean(axis=-1, dtype=np.float64)
