"""Clark et al. 2019, §4.2, written from the paper with Hugging Face's own attentions: what lab.evidence is held to.

For every dependency, each head names the word it attends to most, from the dependent and from the head of the
relation. Attention to a word is the sum over its pieces, from a word the mean (§4.1). [CLS], [SEP] and the word
itself cannot be named. Punctuation is no dependent, but may be named.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertForPreTraining

from lab.evidence.treebank import Sentence

FARTHEST = 5


@dataclass(frozen=True)
class Arc:
    """A dependency between two words of a sentence, counted from 0."""

    dependent: int
    head: int
    relation: str


@dataclass(frozen=True)
class Found:
    """How often a head or a fixed offset names the right word.

    accuracy  (2, layers, heads) from the dependent and from the head
    offset    share for the best fixed distance, up to five words away
    """

    count: int
    accuracy: np.ndarray
    offset: float


def arcs(sentence: Sentence) -> list[Arc]:
    """The dependencies between words; neither the root nor punctuation."""
    pairs = enumerate(zip(sentence.heads, sentence.relations, strict=True))
    return [Arc(word, head - 1, relation) for word, (head, relation) in pairs if head and relation != "punct"]


def word_attention(model: BertForPreTraining, tokenizer: Tokenizer, words: Sequence[str]) -> Tensor:
    """Attention between words, (layers, heads, words, words), without special tokens; rows do not add up to 1."""
    encoding = tokenizer.encode(list(words), is_pretokenized=True)
    belongs = torch.tensor([[float(word == each) for each in encoding.word_ids] for word in range(len(words))])
    attention = torch.cat(model.bert(torch.tensor([encoding.ids]), output_attentions=True).attentions)
    mean = belongs / belongs.sum(1, keepdim=True).clamp(min=1)
    return mean @ attention @ belongs.T


@torch.inference_mode()
def measure(model: BertForPreTraining, tokenizer: Tokenizer, sentences: Iterable[Sentence]) -> dict[str, Found]:
    """What every head finds, by relation, the commonest first. The model must compute attention eagerly."""
    right: dict[str, Any] = defaultdict(int)
    distances: dict[str, list[int]] = defaultdict(list)
    for sentence in sentences:
        attention = word_attention(model, tokenizer, sentence.words)
        attention.diagonal(dim1=-2, dim2=-1).fill_(-1)
        named = attention.argmax(-1).numpy()
        for arc in arcs(sentence):
            both = np.stack([named[..., arc.dependent] == arc.head, named[..., arc.head] == arc.dependent])
            right[arc.relation] = right[arc.relation] + both
            distances[arc.relation].append(arc.head - arc.dependent)
    common = sorted(distances, key=lambda relation: -len(distances[relation]))
    return {r: Found(n := len(distances[r]), right[r] / n, _best_offset(distances[r])) for r in common}


def _best_offset(distances: Sequence[int]) -> float:
    counts = Counter(d for d in distances if 0 < abs(d) <= FARTHEST)
    return max(counts.values(), default=0) / len(distances)
