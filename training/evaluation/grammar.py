"""Which head finds which grammatical relation: Clark et al. 2019, §4.2, on UD English EWT dev.

    python -m training.evaluation.grammar lab/models/embedded/lab-bert

For every dependency, each head names the word it attends to most, from the dependent and from the head of the
relation. Attention to a word is the sum over its pieces, from a word the mean (§4.1). [CLS], [SEP] and the word
itself cannot be named. Punctuation is no dependent, but may be named.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertForPreTraining

from training.corpus import HELD_OUT
from training.en_lab_data import Sentence, conllu

# The relations that the training is held to: those with a name in Clark's table 1 and enough cases in EWT dev.
RELATIONS = ("case", "nsubj", "det", "obj", "aux", "cop", "ccomp")
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
    offset    share for the best fixed distance, up to five words away, the better of both directions
    """

    count: int
    accuracy: np.ndarray
    offset: float

    @property
    def best(self) -> tuple[float, str]:
        """The best head's share, and its name: "3-9" is head 9 of layer 3."""
        _, layer, head = np.unravel_index(self.accuracy.argmax(), self.accuracy.shape)
        return float(self.accuracy.max()), f"{layer + 1}-{head + 1}"


def treebank(count: int | None = None) -> list[Sentence]:
    """The first ``count`` sentences of the treebank's dev part that have more than one word."""
    found = [s for s in conllu(HELD_OUT.with_name("en_ewt-ud-dev.conllu.xz")) if len(s.words) > 1]
    return found[:count]


def arcs(sentence: Sentence) -> list[Arc]:
    """The dependencies between words, subtypes cut off; neither the root nor punctuation."""
    pairs = enumerate(zip(sentence.heads, sentence.relations, strict=True))
    return [
        Arc(word, head, relation.split(":")[0])
        for word, (head, relation) in pairs
        if head != word and relation != "punct"
    ]


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


def table(model: BertForPreTraining, tokenizer: Tokenizer, count: int | None = None) -> dict[str, dict[str, Any]]:
    """For each of :data:`RELATIONS`: cases, best offset, best head and its name; and the means over all of them."""
    found = measure(model, tokenizer, treebank(count))
    rows: dict[str, dict[str, Any]] = {
        r: {"count": found[r].count, "offset": round(found[r].offset, 3), "best": round(found[r].best[0], 3),
            "head": found[r].best[1]}
        for r in RELATIONS
    }  # fmt: skip
    rows["mean"] = {key: round(sum(rows[r][key] for r in RELATIONS) / len(RELATIONS), 3) for key in ("offset", "best")}
    return rows


def load(folder: Path) -> tuple[BertForPreTraining, Tokenizer]:
    """A checkpoint folder's model, computing eagerly, and its tokenizer without padding or cutting."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return model.eval(), tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    torch.set_num_threads(1)
    for relation, row in table(*load(parser.parse_args().folder)).items():
        print(f"{relation:6} {json.dumps(row)}")


if __name__ == "__main__":
    main()
