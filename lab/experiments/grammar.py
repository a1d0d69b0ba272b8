"""Which head finds which grammatical relation: Clark et al. 2019 ("What Does BERT Look At?"), §4.2.

For every dependency each head names one word: from the dependent, the word that it attends to most, and likewise from
the head of the dependency. That is right or wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values, Weights, layer_groups
from lab.models.encoding import Encoding, TextError, encode
from lab.models.trace import Trace, trace_encoding

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Pieces = Literal["mean", "first"]
# How far away the word of a fixed distance may be.
FARTHEST = 5


@dataclass(frozen=True, eq=False)
class HeadAccuracies:
    """How often each head names the right word, by relation; the commonest relation first.

    Attributes
    ----------
    relations
        R names.
    counts
        (R,) how many cases there are.
    accuracy
        (R, layers, heads, 2) the share of them that a head names right: [..., 0] from the dependent to its head,
        [..., 1] from the head to its dependent.
    offset
        (R,) the fixed distance that is right most often, head − dependent in words, at most :data:`FARTHEST`; 0 where
        no case is so near.
    offset_accuracy
        (R,) how often it is right: what a head can reach that knows places and no grammar.
    """

    relations: tuple[str, ...]
    counts: NDArray[np.int64]
    accuracy: Values
    offset: NDArray[np.int64]
    offset_accuracy: Values

    def of(self, relation: str) -> int:
        """The place of ``relation`` in the arrays. Raises ValueError if the sentences have no case of it."""
        return self.relations.index(relation)


def head_accuracies(
    model: LoadedModel,
    sentences: Iterable[tuple[Sequence[str], Sequence[int], Sequence[str]]],
    pieces: Pieces = "mean",
    punctuation: bool = False,
) -> HeadAccuracies:
    """Let every head of ``model`` name the other word of every dependency.

    Attention to a word is the sum over its pieces; from a word it is the mean over them, or that of the first (§4.1).
    Special tokens and the word itself cannot be named, nor can what a causal model does not see. A sentence that is
    longer than the model reads is left out.

    Parameters
    ----------
    model
        Any model of the lab.
    sentences
        (words, heads, relations), as :func:`lab.experiments.treebank.read_conllu` makes them.
    pieces
        ``"mean"`` as in the paper, ``"first"`` as in its code.
    punctuation
        Whether punctuation counts as a dependent. It may always be named.

    Raises
    ------
    ValueError
        If there is no dependency to find.
    """
    right: dict[str, NDArray[np.int64]] = {}
    distances: dict[str, list[int]] = defaultdict(list)
    for words, heads, relations in sentences:
        named = named_words(model, words, pieces)
        if named is None:
            continue
        for dependent, (head, relation) in enumerate(zip(heads, relations, strict=True)):
            if head == 0 or (relation == "punct" and not punctuation):
                continue
            both = np.stack([named[..., dependent] == head - 1, named[..., head - 1] == dependent], axis=-1)
            right[relation] = right.get(relation, 0) + both.astype(np.int64)
            distances[relation].append(head - 1 - dependent)
    if not right:
        raise ValueError("there is no dependency in these sentences.")
    common = tuple(sorted(distances, key=lambda relation: (-len(distances[relation]), relation)))
    offsets = [best_offset(distances[relation]) for relation in common]
    return HeadAccuracies(
        relations=common,
        counts=np.array([len(distances[relation]) for relation in common]),
        accuracy=np.stack([right[relation] / len(distances[relation]) for relation in common]),
        offset=np.array([offset for offset, _ in offsets]),
        offset_accuracy=np.array([share for _, share in offsets]),
    )


def named_words(model: LoadedModel, words: Sequence[str], pieces: Pieces = "mean") -> NDArray[np.int64] | None:
    """The word, from 0, that each head names for each word, (layers, heads, words); -1 where there is none to name.

    None for a sentence that the model cannot read whole.
    """
    found = encode_words(model, words)
    if found is None:
        return None
    traced = trace_encoding(model, found[0])
    attention = word_attention(traced, found[1], len(words), pieces)
    attention[..., np.eye(len(words), dtype=bool)] = 0
    named = np.where(attention.max(-1) > 0, attention.argmax(-1), -1)
    return named.reshape(model.config.layers, model.config.heads, len(words))


def encode_words(model: LoadedModel, words: Sequence[str]) -> tuple[Encoding, NDArray[np.int64]] | None:
    """The words, a space between each two, as the model reads them; and each token's word from 0, -1 for none.

    None if they are too many, or no token is left of them.
    """
    try:
        encoding = encode(model.tokenizer, model.config, " ".join(words))
    except TextError:
        return None
    if encoding.cut:
        return None
    ends = np.cumsum([len(word) + 1 for word in words])
    # A token that begins with the space before its word ends in the word.
    last = np.array([end - 1 for _, end in encoding.offsets])
    owner = np.where(last >= 0, np.searchsorted(ends, last, side="right"), -1)
    return encoding, np.where(encoding.special, -1, owner)


def word_attention(traced: Trace, owner: NDArray[np.int64], words: int, pieces: Pieces = "mean") -> Weights:
    """Attention between words, (layers · heads, words, words); what goes to special tokens is left out.

    ``owner`` says of which word each token is a piece, as :func:`encode_words` does.
    """
    return np.concatenate([between_words(each, owner, words, pieces) for each in layer_groups(traced)])


def between_words(attention: Weights, owner: NDArray[np.int64], words: int, pieces: Pieces = "mean") -> Weights:
    """The same of any heads, (k, tokens, tokens) -> (k, words, words)."""
    belongs = (owner == np.arange(words)[:, None]).astype(np.float32)
    reads = np.where(belongs.cumsum(1) == 1, belongs, 0) if pieces == "first" else belongs
    reads = reads / np.maximum(reads.sum(1, keepdims=True), 1)
    return reads @ attention @ belongs.T


def best_offset(distances: Sequence[int]) -> tuple[int, float]:
    """The commonest distance up to :data:`FARTHEST` words, and its share of all; the nearer of equals."""
    counts = Counter(distance for distance in distances if 0 < abs(distance) <= FARTHEST)
    if not counts:
        return 0, 0.0
    offset = min(counts, key=lambda distance: (-counts[distance], abs(distance), distance))
    return offset, counts[offset] / len(distances)
