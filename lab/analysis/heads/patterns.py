"""Which heads do something that has a name: look at the next token, at [SEP], everywhere alike …

The patterns are those of Vig 2019 ("A Multiscale Visualization of Attention"), Clark et al. 2019
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
    """How a pattern is shown. Which heads have it is decided in :mod:`lab.analysis.heads.named`."""

    id: str
    name: str
    formula: str
    reading: str


# The order decides between equal scores.
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
    """What the tokens of a sequence are to each other.

    Attributes
    ----------
    same
        (n, n) bool, true where two different places hold the same or a related word.
    delimiters
        (n,) bool, the special tokens; in a causal model the first token.
    segments
        (n,), the segment of each token; -1 for special tokens, which are in none.
    """

    same: Mask
    delimiters: Mask
    segments: NDArray[np.int64]

    def among(self, places: NDArray[np.intp]) -> Roles:
        """The roles of the tokens at ``places`` alone."""
        return Roles(self.same[np.ix_(places, places)], self.delimiters[places], self.segments[places])


@dataclass(frozen=True, eq=False)
class Patterns:
    """Scores in [0, 1], (H,) for a layer or (L, H) for a trace; nan where the text has no case of a pattern."""

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
    """Roles from what is known of each of n tokens.

    Two tokens are related when they belong to words that are spelt alike but for case (pieces of one
    word do), or have the same id; special tokens are related to nothing.
    """
    own, ids, is_special = np.array([w or "" for w in words]), np.asarray(token_ids), np.asarray(special, dtype=bool)
    alike = ((own[:, None] == own) & (own != "")) | (ids[:, None] == ids)
    alike &= ~is_special & ~is_special[:, None]
    np.fill_diagonal(alike, False)
    delimiters = is_special.copy()
    delimiters[0] |= causal
    return Roles(alike, delimiters, np.where(is_special, -1, np.asarray(segments)))


def encoding_words(encoding: Encoding) -> tuple[str | None, ...]:
    """For each token the word it is a piece of, case folded; None for special tokens."""
    words: list[str | None] = [None] * len(encoding)
    for pieces in word_pieces(encoding.word_ids):
        text = encoding.pair if encoding.in_pair[pieces[0]] else encoding.text
        spelling = (text or "")[encoding.offsets[pieces[0]][0] : encoding.offsets[pieces[-1]][1]]
        for piece in pieces:
            words[piece] = spelling.strip().casefold()
    return tuple(words)


def trace_roles(trace: Trace) -> Roles:
    """The roles of a trace's tokens; its segments are the two texts of a pair."""
    seen = trace.encoding
    segments = [int(second) for second in seen.in_pair]
    return token_roles(encoding_words(seen), seen.token_ids, seen.special, segments, causal=is_causal(trace))


def head_patterns(
    attention: NDArray[Any] | Tensor, roles: Roles, *, causal: bool, keep: Sequence[bool] | Mask | None = None
) -> Patterns:
    """How much of each pattern every head of a layer shows.

    Positional scores are means over the queries that have such a neighbour. ``same_word`` compares
    what goes to the other places of a word with what an even spread over all its k places, the
    token's own included, would send there: (k - 1)/k. ``delimiter`` is the mass that words spend on
    delimiters. ``bag_of_words`` is the part of each row that lies as an even spread over the words of
    the token's own segment would lie, 1 minus their total variation distance: a head that is sharp
    inside the segment scores 1/size. ``broad`` is the mean row entropy over its maximum.

    Parameters
    ----------
    attention
        (H, n, n), rows sum to 1.
    roles
        From :func:`token_roles` or :func:`trace_roles`.
    causal
        Whether only the lower triangle exists; then there is no next token, and a row may only be compared with keys up
        to its own.
    keep
        (n,), false for tokens to leave out as queries and keys; rows are renormalised. Two tokens between which one is
        left out are no neighbours.

    Raises
    ------
    ValueError
        For attention of another shape, or roles of another number of tokens.
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
    """Count the tokens that have another place of their word, or another piece of it, to look at."""
    same = trace_roles(trace).same
    return int((np.tril(same) if is_causal(trace) else same).any(axis=1).sum())


@once
def trace_patterns(trace: Trace, *, only_words: bool = False) -> Patterns:
    """The patterns of every head of a trace: arrays (L, H).

    ``only_words`` leaves out special tokens, or the first token where a model has none.
    """
    roles, causal, keep = trace_roles(trace), is_causal(trace), keep_others(trace) if only_words else None
    found = [head_patterns(attention, roles, causal=causal, keep=keep) for attention in layer_groups(trace)]
    return join(found, trace.model.config.heads)


def average_patterns(traces: Iterable[Trace]) -> Patterns:
    """The mean over sentences, each counting the same; one without a case of a pattern does not count for it.

    Raises ValueError when there are no traces.
    """
    means = deque(running_means(pattern_array(trace_patterns(trace)) for trace in traces), maxlen=1)
    if not means:
        raise ValueError("there are no traces to average.")
    return Patterns(*means[0])


def pattern_array(patterns: Patterns) -> Values:
    """The fields of :class:`Patterns` stacked in their order, (6, H) or (6, L, H)."""
    return np.stack([getattr(patterns, field.name) for field in fields(patterns)])


def _neighbours(attention: Weights, places: NDArray[np.intp], distance: int | None) -> Values:
    """Mean weight of the key ``distance`` away, over the queries that have one; ``places`` are those in the text."""
    heads = len(attention)
    if distance is None or not (beside := np.diff(places) == 1).any():
        return np.full(heads, np.nan)
    return attention.diagonal(distance, 1, 2)[:, beside].mean(axis=-1, dtype=np.float64)


def _same_word(attention: Weights, same: Mask) -> Values:
    """Mean over the queries that have related keys of the share described in :func:`head_patterns`."""
    queries, keys = np.nonzero(same)
    if not len(queries):
        return np.full(len(attention), np.nan)
    _, starts, others = np.unique(queries, return_index=True, return_counts=True)
    mass = np.add.reduceat(attention[:, queries, keys].astype(np.float64), starts, axis=1)
    return np.minimum(mass * (others + 1) / others, 1).mean(axis=-1)


def _delimiter_mass(attention: Weights, delimiters: Mask) -> Values:
    """The mean mass that words give to delimiters."""
    if delimiters.all() or not delimiters.any():
        return np.full(len(attention), np.nan)
    received: Values = attention[:, ~delimiters][..., delimiters].mean(axis=1, dtype=np.float64).sum(-1)
    return received


def _even_share(segments: NDArray[np.int64], causal: bool) -> NDArray[np.float32]:
    """(n, n): for each query that is a word, an even spread over the words of its segment it may see.

    Rows of queries that see one word only are left out: they have no choice.
    """
    inside = (segments[:, None] == segments) & (segments >= 0)
    if causal:
        inside = np.tril(inside)
    size = inside.sum(axis=1, keepdims=True)
    share: NDArray[np.float32] = np.where(size > 1, inside / np.maximum(size, 1), 0).astype(np.float32)
    return share


def _overlap(attention: Weights, share: NDArray[np.float32]) -> Values:
    """Mean over the rows of ``share`` that are not empty of the sum over keys of the smaller of the two."""
    used = share.any(axis=1)
    if not used.any():
        return np.full(len(attention), np.nan)
    return row_sums(np.minimum(attention, share))[:, used].mean(axis=-1, dtype=np.float64)
