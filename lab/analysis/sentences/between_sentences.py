"""Measure the attention between the sentences of a text, over all layers and heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values, Weights, as_heads, is_causal, layers, uniform_attention
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

Places = NDArray[np.intp]

# The measures for two sentences, each an array of InterSentence, by their names on screen.
MASS, RELATIVE, MAXIMUM = "Mean mass", "Length-corrected", "Maximum"
# The choice of mean_cells instead of a single head, for the weights between tokens.
AVERAGE = "All heads, mean"


@dataclass(frozen=True, eq=False)
class InterSentence:
    """Attention from sentence a (row) to sentence b (column); the matrices are not symmetric.

    Attributes
    ----------
    maximum
        (S, S), the largest single weight from a token of a to a token of b, over layers, heads and tokens. nan if a
        causal model cannot look from a to b.
    where
        (S, S, 4), the layer, head, query and key of the largest weight, from 0; -1 if there is none. If several weights
        are largest, the one in the lowest layer counts.
    mass
        (S, S), the attention that a token of a sends to b: mean over layers, heads and a's tokens.
    relative
        (S, S), ``mass`` divided by the mass of uniform attention. In a model that sees the whole text, uniform
        attention sends |b|/n, where n counts all tokens, or if ``renormalised`` only the tokens in sentences. The value
        of an even spread is 1. nan if a causal model cannot look from a to b.
    removed
        (S,), the attention that a token of a sends to tokens in no sentence: [CLS] and [SEP], or the tokens that
        :func:`lab.analysis.sentences.token_sentences.aside` sets apart.
    members
        For each sentence the places of its tokens, ascending.
    renormalised
        True if ``mass`` is a share of the attention to sentences: each token's mean over all heads is divided by its
        sum over tokens in sentences. Single heads are not renormalised, because then a head with 99 % on [SEP] would
        count as much as a head that reads words.
    """

    maximum: Values
    where: NDArray[np.int64]
    mass: Values
    relative: Values
    removed: Values
    members: tuple[Places, ...]
    renormalised: bool


@dataclass(frozen=True, eq=False)
class SentenceCells:
    """The weights from the tokens of one sentence to the tokens of another.

    ``queries`` (q,) and ``keys`` (k,) are places in the text; ``weights`` are (q, k).
    """

    queries: Places
    keys: Places
    weights: Weights


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The m tokens in sentence order, and the index at which each sentence begins."""

    order: Places
    starts: Places
    parts: tuple[slice, ...]

    @classmethod
    def of(cls, members: Sequence[Places]) -> _Blocks:
        ends = np.cumsum([0, *(len(places) for places in members)])
        parts = tuple(slice(*pair) for pair in pairwise(ends.tolist()))
        return cls(np.concatenate(members), ends[:-1], parts)

    def largest(self, matrix: NDArray[np.floating]) -> Values:
        """Return the largest number of each block, (m, m) in sentence order -> (S, S)."""
        # Reduce the rows slice by slice, because reduceat along rows takes ten times as long.
        rows = np.array([matrix[part].max(axis=0) for part in self.parts], dtype=np.float64)
        return np.asarray(np.maximum.reduceat(rows, self.starts, axis=1))

    def by_key(self, matrix: NDArray[np.floating]) -> Values:
        """Return the attention that each token sends to each sentence, (m, m) in sentence order -> (m, S)."""
        return np.add.reduceat(matrix, self.starts, axis=1, dtype=np.float64)

    def mass(self, sent: Values, renormalise: bool) -> Values:
        """The mean over each sentence's tokens, (m, S) -> (S, S); ``renormalise`` first divides each row by its sum."""
        rows = _shared_out(sent, sent.sum(axis=1)) if renormalise else sent
        return np.array([rows[part].mean(axis=0) for part in self.parts])


def sentence_members(sentence_of: Sequence[int | None]) -> tuple[Places, ...]:
    """Return the places of each sentence's tokens.

    ``sentence_of`` has the sentence of each token, numbered from 0, or None for [CLS], [SEP] and
    other tokens in no sentence. Raises ValueError if no token is in a sentence or a number has no token.
    """
    numbers = np.array([-1 if sentence is None else sentence for sentence in sentence_of])
    count = int(numbers.max(initial=-1)) + 1
    members = tuple(np.flatnonzero(numbers == sentence) for sentence in range(count))
    if not members or not all(len(places) for places in members):
        raise ValueError("sentences are numbered 0, 1, 2 … without a gap, and each needs a token.")
    return members


@once
def inter_sentence(trace: Trace, sentence_of: tuple[int | None, ...], *, renormalise: bool = False) -> InterSentence:
    """Inter-sentence attention of a trace, one layer at a time.

    Parameters
    ----------
    trace
        The run; its text is not encoded again.
    sentence_of
        The sentence of each token, from 0; None for special tokens.
    renormalise
        Leave out the tokens in no sentence and let every row of the mean over heads sum to 1 again.

    Raises
    ------
    ValueError
        If ``sentence_of`` has the wrong length, or if a sentence has no tokens.
    """
    if len(sentence_of) != len(trace):
        raise ValueError(f"the text has {len(trace)} tokens, sentence_of is about {len(sentence_of)}.")
    return between_sentences(layers(trace), sentence_of, causal=is_causal(trace), renormalise=renormalise)


def between_sentences(
    attention: Iterator[Weights], sentence_of: Sequence[int | None], *, causal: bool, renormalise: bool = False
) -> InterSentence:
    """Compute the attention between sentences from the attention of each layer in turn, (H, n, n)."""
    members = sentence_members(sentence_of)
    blocks, count = _Blocks.of(members), len(members)
    best, where = np.full((count, count), -1.0), np.full((count, count, 4), -1)
    sent, heads = np.zeros((len(blocks.order), count)), 0
    for number, weights in enumerate(attention):
        layer = _Layer.of(as_heads(weights), blocks.order)
        _raise_maxima(layer, number, blocks, best, where)
        sent, heads = sent + blocks.by_key(layer.sum), heads + len(weights)
    sent /= heads
    expected = blocks.mass(
        blocks.by_key(_Layer.of(uniform_attention(len(sentence_of), causal), blocks.order).sum), renormalise
    )
    mass, visible = blocks.mass(sent, renormalise), expected > 0
    return InterSentence(
        maximum=np.where(visible, best, np.nan),
        where=np.where(visible[..., None], where, -1),
        mass=mass,
        relative=np.where(visible, mass / np.where(visible, expected, 1), np.nan),
        removed=1 - blocks.mass(sent, renormalise=False).sum(axis=1),
        members=members,
        renormalised=renormalise,
    )


def cells(trace: Trace, found: InterSentence, layer: int, head: int, a: int, b: int) -> SentenceCells:
    """Return the weights behind one cell of the matrix: head ``head`` of ``layer``, from sentence a to sentence b.

    The weights are the model's own even if ``found`` is renormalised. Raises IndexError for a layer, head or sentence
    that does not exist.
    """
    _check(found, a, b)
    if not 0 <= head < trace.model.config.heads:
        raise IndexError(f"head {head}: {trace.model.id} has heads 0 to {trace.model.config.heads - 1}.")
    weights = as_heads(trace.layer(layer).attention[head : head + 1])[0]
    queries, keys = found.members[a], found.members[b]
    return SentenceCells(queries, keys, weights[queries[:, None], keys])


def mean_cells(trace: Trace, found: InterSentence, a: int, b: int) -> SentenceCells:
    """Return the weights behind one cell of the matrix, as a mean over all heads.

    Each row adds up to the attention that a token of a sends to b; the mean of these sums is ``found.mass[a, b]``.
    Raises IndexError for a sentence that does not exist.
    """
    _check(found, a, b)
    queries, config = found.members[a], trace.model.config
    rows = np.zeros((len(queries), len(trace)))
    for weights in layers(trace):
        rows += weights[:, queries].sum(axis=0)
    rows /= config.layers * config.heads
    if found.renormalised:
        rows = _shared_out(rows, rows[:, np.concatenate(found.members)].sum(axis=1))
    return SentenceCells(queries, found.members[b], rows[:, found.members[b]].astype(np.float32))


@once
def mean_between(
    trace: Trace, sentence_of: tuple[int | None, ...], a: int, b: int, *, renormalise: bool = False
) -> SentenceCells:
    """:func:`mean_cells` of the result of :func:`inter_sentence`."""
    return mean_cells(trace, inter_sentence(trace, sentence_of, renormalise=renormalise), a, b)


def _check(found: InterSentence, a: int, b: int) -> None:
    if not (0 <= a < len(found.members) and 0 <= b < len(found.members)):
        raise IndexError(f"sentences {a} and {b}: the text has sentences 0 to {len(found.members) - 1}.")


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer: the largest weight over heads and the sum over heads, among the m tokens in sentences, (m, m)."""

    attention: Weights  # (H, n, n), as the model computes it
    largest: NDArray[np.float32]
    sum: NDArray[np.float32]

    @classmethod
    def of(cls, attention: Weights, order: Places) -> _Layer:
        # Reduce whole rows, because a view without the first and last token would take twice as long. Tokens in no
        # sentence are cut off afterwards.
        return cls(attention, _among(attention.max(axis=0), order), _among(attention.sum(axis=0), order))


def _shared_out(rows: Values, total: Values) -> Values:
    """Rows divided by their ``total``; a row with a total of 0 stays 0."""
    return np.asarray(rows / np.where(total > 0, total, 1)[:, None])


def _among(matrix: Weights, order: Places) -> Weights:
    """The rows and columns of ``order``, (n, n) -> (m, m); not copied if they are adjacent, as they usually are."""
    first, last = int(order[0]), int(order[-1]) + 1
    if np.array_equal(order, np.arange(first, last)):
        return matrix[first:last, first:last]
    return matrix[order[:, None], order]


def _raise_maxima(layer: _Layer, number: int, blocks: _Blocks, best: Values, where: NDArray[np.int64]) -> None:
    """Update ``best`` and ``where`` with the weights of this layer that are larger."""
    found = blocks.largest(layer.largest)
    for a, b in np.argwhere(found > best).tolist():
        rows, columns = blocks.parts[a], blocks.parts[b]
        block = layer.largest[rows, columns]
        i, j = divmod(int(block.argmax()), block.shape[1])
        query, key = int(blocks.order[rows.start + i]), int(blocks.order[columns.start + j])
        best[a, b] = found[a, b]
        where[a, b] = number, int(layer.attention[:, query, key].argmax()), query, key
