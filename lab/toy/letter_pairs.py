"""A one-layer BERT, written by hand, that reads two sentences of letters; one head looks across to the other sentence.

It is an ordinary checkpoint in memory, like the toys of :mod:`lab.toy.models`; ``trace(model, "c e b", "e d")`` reads a
pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import torch
from tokenizers import Tokenizer, processors
from torch import Tensor

from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.models.weights import EmbeddingWeights
from lab.toy.models import MATCH_SCORE, letter_tokenizer, load_toy, plain_layer, restoring_norm
from lab.toy.settings import check_settings

PAIRED = "toy-pairs"
# The rules of the heads, each as the end of a sentence "the head was written to …".
PAIR_RULES = (
    "look at the same letter in the other sentence, or at the [SEP] of that sentence if it has none",
    "look at all letters of its own sentence alike",
)
ACROSS, WITHIN = range(2)
_SPECIAL = ("[CLS]", "[SEP]")


def pair_tokenizer(vocabulary: int) -> Tokenizer:
    """Make a tokenizer with one token for each letter, and with [CLS] and [SEP] as in BERT, which have the last ids."""
    tokenizer = letter_tokenizer(vocabulary)
    tokenizer.add_special_tokens(list(_SPECIAL))
    ids = [(token, tokenizer.token_to_id(token)) for token in _SPECIAL]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
    )
    return tokenizer


@dataclass(frozen=True)
class _Layout:
    """The meaning of each dimension.

    There is one dimension for each token id, then the two segments, then for each head one for each token id, to
    which the head writes the tokens that it found. Dimensions left over at the end stay empty.
    """

    words: int  # token ids, [UNK], [CLS] and [SEP] included

    @property
    def compared(self) -> int:
        """The number of dimensions that encode a token and its sentence."""
        return self.words + 2

    @property
    def head_width(self) -> int:
        return max(self.compared, math.ceil((self.compared + len(PAIR_RULES) * self.words) / len(PAIR_RULES)))

    @property
    def width(self) -> int:
        return len(PAIR_RULES) * self.head_width

    def found(self, head: int) -> slice:
        """Return the dimensions of the residual stream to which ``head`` writes the tokens that it attended to."""
        start = self.compared + head * self.words
        return slice(start, start + self.words)

    def inside(self, head: int, size: int) -> slice:
        """Return the first ``size`` of the d_k dimensions of ``head``, among the columns of W_Q, W_K and W_V."""
        return slice(head * self.head_width, head * self.head_width + size)


def _queries_and_keys(at: _Layout) -> tuple[Tensor, Tensor]:
    """Return W_Q and W_K, both (d, d). A key encodes a letter and its sentence; a query encodes the key to look for."""
    w_q, w_k = torch.zeros(at.width, at.width), torch.zeros(at.width, at.width)
    match = MATCH_SCORE * math.sqrt(at.head_width)  # multiplied by √d_k, because scaling divides by √d_k
    letters, segments, separator = torch.arange(1, at.words - 2), slice(at.words, at.compared), at.words - 1
    own = at.inside(ACROSS, at.compared)
    place, same = slice(own.stop - 2, own.stop), own.start + letters
    w_q[segments, place], w_k[segments, place] = 2 * match * (1 - torch.eye(2)), torch.eye(2)
    w_q[letters, same], w_k[letters, same] = 2 * match, 1.0
    # Every token has a segment, so every query also looks for [SEP].
    w_q[segments, own.start + separator], w_k[separator, own.start + separator] = match, 1.0
    own = at.inside(WITHIN, at.compared)
    place = slice(own.stop - 2, own.stop)
    w_q[segments, place], w_k[segments, place] = match * torch.eye(2), torch.eye(2)
    # [CLS] and [SEP] are not in a sentence, so the rows of these tokens subtract from the key the amount that the
    # segment adds.
    w_k[at.words - 2 : at.words, place] = -1
    return w_q, w_k


def pair_toy(vocabulary: int, max_length: int) -> LoadedModel:
    """Make a layer of two heads for two sentences of at most ``max_length`` letters: :data:`PAIR_RULES`, in this order.

    Token and segment embeddings are one-hot in separate dimensions, and positions are 0. Head 0 scores 20 for the
    other sentence, 20 for an equal letter and 10 for [SEP]. So an equal letter in the other sentence has 40, the [SEP]
    of the other sentence 30, and all other tokens at most 20. Head 1 scores 10 for a letter of the query's sentence.
    Each head copies the tokens that it attends to into separate dimensions; the feed-forward network adds 0. The later
    LayerNorms restore a row in which each head found one kind of token, and rescale any other row.

    Raises :class:`lab.toy.settings.SettingError` for a setting out of bounds.
    """
    check_settings(vocabulary=vocabulary, max_length=max_length)
    at = _Layout(vocabulary + 1 + len(_SPECIAL))
    token, segment = torch.zeros(at.words, at.width), torch.zeros(2, at.width)
    token[:, : at.words], segment[:, at.words : at.compared] = torch.eye(at.words), torch.eye(2)
    w_v, w_o = torch.zeros(at.width, at.width), torch.zeros(at.width, at.width)
    for head in range(len(PAIR_RULES)):
        copied = at.inside(head, at.words)
        w_v[: at.words, copied] = torch.eye(at.words)
        w_o[copied, at.found(head)] = torch.eye(at.words)
    ffn = torch.zeros(at.width, 4 * at.width), torch.zeros(4 * at.width, at.width)
    after_heads = restoring_norm(2 + len(PAIR_RULES), at.width)
    layer = plain_layer(*_queries_and_keys(at), w_v, w_o, ffn, after_heads)
    positions = torch.zeros(2 * max_length + 3, at.width)
    embeddings = EmbeddingWeights(token, positions, segment, restoring_norm(2, at.width))
    made = partial(pair_toy, vocabulary, max_length)
    return replace(load_toy(PAIRED, len(PAIR_RULES), embeddings, layer, pair_tokenizer(vocabulary)), made=made)


def own_share(trace: Trace) -> float:
    """Return the share of a letter's own sentence in the letter's attention to letters, in head :data:`WITHIN`.

    ``trace`` is a run of :func:`pair_toy` on a pair. The share is a mean over all letters, in [0, 1].
    """
    letters = _letters(trace)
    weights = trace.layer(0).attention[WITHIN][letters]
    own = (weights * _own(trace)[letters]).sum(dim=1)
    return float((own / weights[:, letters].sum(dim=1)).mean())


def even_share(trace: Trace) -> float:
    """Return :func:`own_share` of a head that gives all letters of both sentences equal weights."""
    own = _own(trace)[_letters(trace)]
    return float(own.float().sum(dim=1).mean() / len(own))


def _letters(trace: Trace) -> Tensor:
    """Return a mask of the tokens that are letters, (n,)."""
    return ~torch.tensor(trace.encoding.special)


def _own(trace: Trace) -> Tensor:
    """Return a mask of the pairs of tokens that are letters of one sentence, (n, n)."""
    segments, letters = torch.tensor(trace.segment_ids), _letters(trace)
    return (segments[:, None] == segments) & letters[:, None] & letters
