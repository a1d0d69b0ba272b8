"""Measure which head finds which grammatical relation: Clark et al. 2019 ("What Does BERT Look At?"), §4.2.

For every dependency, each attention head names one word from the dependent: the word that the dependent attends to
most. In the same way the attention head names one word from the head of the dependency. Each named word is right or
wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Mask, Weights
from lab.evidence.treebank import Sentence
from lab.models.batches import ProgressFunction, by_length, layer_attentions, unwatched
from lab.models.encoding import Encoding, TextError, encode

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Pieces = Literal["mean", "first"]
# At most this many attention weights, over all layers, are in one batch: 32 MB.
_ROOM = 8_000_000
# Batches are built within chunks of this many sentences. In a batch of another size, sums are rounded differently, and
# a head may name the other of two words with almost equal weights. So a part of a treebank that begins at a multiple of
# CHUNK gives the same result on every machine (lab.evidence.scale).
CHUNK = 512
# The largest distance, in words, that the baseline of a fixed distance may have.
FARTHEST = 5


@dataclass(frozen=True, eq=False)
class Cases:
    """Every dependency of some sentences, and the word that each attention head names from either of its ends.

    Attributes
    ----------
    causal
        True if the heads can only look back.
    relations
        The names of the N dependencies' relations.
    sentence
        (N,) the sentence of each dependency, from 0.
    dependent, head
        (N,) the two words, from 0.
    named
        (N, layers, heads, 2) the word that an attention head names, from 0; -1 if the head names no word. [..., 0] is
        named from the dependent and should be the head; [..., 1] is named from the head and should be the dependent.
    """

    causal: bool
    relations: tuple[str, ...]
    sentence: NDArray[np.int64]
    dependent: NDArray[np.int64]
    head: NDArray[np.int64]
    named: NDArray[np.int16]

    @property
    def sought(self) -> NDArray[np.int64]:
        """(N, 2) the word that should be named, from the dependent and from the head."""
        return np.stack([self.head, self.dependent], axis=-1)

    @property
    def right(self) -> Mask:
        """(N, layers, heads, 2), true where the head names the right word."""
        return self.named == self.sought[:, None, None, :]

    @property
    def distance(self) -> NDArray[np.int64]:
        """(N,) head − dependent, in words."""
        return self.head - self.dependent

    def of(self, relation: str) -> Cases:
        """Return the cases of one relation."""
        return self.where(np.array([each == relation for each in self.relations], dtype=bool))

    def where(self, here: Mask) -> Cases:
        """Return the cases for which ``here``, (N,), is true."""
        return replace(
            self,
            relations=tuple(each for each, kept in zip(self.relations, here, strict=True) if kept),
            sentence=self.sentence[here],
            dependent=self.dependent[here],
            head=self.head[here],
            named=self.named[here],
        )


def find_cases(
    model: LoadedModel,
    sentences: Iterable[Sentence],
    pieces: Pieces = "mean",
    punctuation: bool = False,
    progress: ProgressFunction = unwatched,
) -> Cases:
    """Every dependency, in reading order, and the words that each head of ``model`` names for it.

    Attention to a word is the sum over its pieces; attention from a word is the mean over its pieces, or the attention
    from its first piece (§4.1). A head cannot name special tokens, the word itself, or later words in a causal model.
    Sentences longer than the model can read are left out.

    Parameters
    ----------
    model
        Any model of the lab.
    sentences
        Sentences as :func:`lab.evidence.treebank.read_conllu` makes them.
    pieces
        ``"mean"`` as in the paper, ``"first"`` as in its code.
    punctuation
        True if punctuation counts as a dependent. A head may name punctuation in any case.
    progress
        Receives the share read, 0 to 1; an exception it raises ends the reading.
    """
    kept = list(sentences)
    arcs = [
        [
            (dependent, head - 1, relation)
            for dependent, (head, relation) in enumerate(zip(each.heads, each.relations, strict=True))
            if head != 0 and (relation != "punct" or punctuation)
        ]
        for each in kept
    ]
    by_sentence: dict[int, NDArray[np.int16]] = {}
    for at, named in _named_by_length(model, [each.words for each in kept], pieces, progress):
        ends = np.array([arc[:2] for arc in arcs[at]], dtype=np.int64).reshape(-1, 2)
        both = np.stack([named[..., ends[:, 0]], named[..., ends[:, 1]]], axis=-1)
        by_sentence[at] = np.moveaxis(both, 2, 0).astype(np.int16)
    found = [(at, arc) for at in sorted(by_sentence) for arc in arcs[at]]
    shape = (0, model.config.layers, model.config.heads, 2)
    return Cases(
        model.config.causal,
        tuple(arc[2] for _, arc in found),
        np.array([at for at, _ in found], dtype=np.int64),
        np.array([arc[0] for _, arc in found], dtype=np.int64),
        np.array([arc[1] for _, arc in found], dtype=np.int64),
        np.concatenate([np.empty(shape, np.int16), *(by_sentence[at] for at in sorted(by_sentence))]),
    )


def _named_by_length(
    model: LoadedModel, sentences: Sequence[Sequence[str]], pieces: Pieces, progress: ProgressFunction
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the number of each sentence that the model reads whole, and its words named as by :func:`named_words`."""
    read = [(at, found) for at, words in enumerate(sentences) if (found := encode_words(model, words)) is not None]
    maps = model.config.layers * model.config.heads
    done, tokens = 0, sum(len(encoding) for _, (encoding, _) in read)
    for _, together in groupby(read, lambda each: each[0] // CHUNK):
        chunk = list(together)
        encodings = [encoding for _, (encoding, _) in chunk]
        for batch in by_length(encodings, lambda n: _ROOM // (maps * n**2)):
            layers = [each.numpy() for each in layer_attentions(model, [encodings[place] for place in batch])]
            for row, place in enumerate(batch):
                at, (_, owner) = chunk[place]
                whole = np.concatenate([each[row] for each in layers])
                yield at, _named(between_words(whole, owner, len(sentences[at]), pieces), model)
            done += sum(len(encodings[place]) for place in batch)
            progress(done / tokens)


def named_words(model: LoadedModel, words: Sequence[str], pieces: Pieces = "mean") -> NDArray[np.int64] | None:
    """Return the word, from 0, that each head names for each word, (layers, heads, words); -1 if there is none to name.

    None for a sentence that the model cannot read whole.
    """
    return next((named for _, named in _named_by_length(model, [words], pieces, unwatched)), None)


def _named(attention: Weights, model: LoadedModel) -> NDArray[np.int64]:
    """Return the word that each word attends to most, or -1, (layers · heads, n, n) -> (layers, heads, n words)."""
    words = attention.shape[-1]
    attention[..., np.eye(words, dtype=bool)] = 0
    named = np.where(attention.max(-1) > 0, attention.argmax(-1), -1)
    return named.reshape(model.config.layers, model.config.heads, words)


def encode_words(model: LoadedModel, words: Sequence[str]) -> tuple[Encoding, NDArray[np.int64]] | None:
    """Return the encoding of the words, joined by spaces, and the word (from 0) of each token; -1 for special tokens.

    None if there are too many words, or if the encoding has no tokens.
    """
    try:
        encoding = encode(model.tokenizer, model.config, " ".join(words))
    except TextError:
        return None
    if encoding.cut:
        return None
    ends = np.cumsum([len(word) + 1 for word in words])
    # Match a token to its word by its last character, because its first may be the space before the word.
    last = np.array([end - 1 for _, end in encoding.offsets])
    owner = np.where(last >= 0, np.searchsorted(ends, last, side="right"), -1)
    return encoding, np.where(encoding.special, -1, owner)


def between_words(attention: Weights, owner: NDArray[np.int64], words: int, pieces: Pieces = "mean") -> Weights:
    """Attention between words, (k, tokens, tokens) -> (k, words, words); attention to special tokens is left out.

    ``owner`` gives the word of each token, as from :func:`encode_words`.
    """
    belongs = (owner == np.arange(words)[:, None]).astype(np.float32)
    reads = np.where(belongs.cumsum(1) == 1, belongs, 0) if pieces == "first" else belongs
    reads = reads / np.maximum(reads.sum(1, keepdims=True), 1)
    return reads @ attention @ belongs.T


def best_offset(distances: Sequence[int]) -> tuple[int, float]:
    """Return the commonest distance up to :data:`FARTHEST` words (the shortest in a tie) and its share of all."""
    counts = Counter(distance for distance in distances if 0 < abs(distance) <= FARTHEST)
    if not counts:
        return 0, 0.0
    offset = min(counts, key=lambda distance: (-counts[distance], abs(distance), distance))
    return offset, counts[offset] / len(distances)
