"""From a :class:`TokenCorpus` to masked training batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.corpus import Source, TokenCorpus

IGNORE = -100


@dataclass(frozen=True)
class Batch:
    """One training batch.

    inputs, segments, labels  (b, n) int64; ``labels`` is -100 where nothing is predicted
    attention_mask            (b, n) int64, or None when no row is padded
    is_next                   (b,)   0 = B follows A, 1 = random; None for single sentences
    """

    inputs: Tensor
    segments: Tensor
    attention_mask: Tensor | None
    is_next: Tensor | None
    labels: Tensor

    def to(self, device: str) -> Batch:
        return Batch(*(None if value is None else value.to(device) for value in vars(self).values()))  # type: ignore[arg-type]


def mask_tokens(batch: Batch, rate: float, tokenizer: Tokenizer, generator: torch.Generator) -> Batch:
    """Choose ``rate`` of the ordinary tokens; 80 % become [MASK], 10 % random, 10 % stay (Devlin §3.1)."""
    vocabulary = tokenizer.get_vocab()
    special = torch.tensor([vocabulary[t] for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")])
    chosen = torch.rand(batch.inputs.shape, generator=generator) < rate
    chosen &= ~torch.isin(batch.inputs, special)
    fate = torch.rand(batch.inputs.shape, generator=generator)
    random_ids = torch.randint(5, len(vocabulary), batch.inputs.shape, generator=generator)
    inputs = torch.where(chosen & (fate < 0.8), vocabulary["[MASK]"], batch.inputs)
    inputs = torch.where(chosen & (fate >= 0.9), random_ids, inputs)
    return replace(batch, inputs=inputs, labels=torch.where(chosen, batch.inputs, IGNORE))


class WindowSampler:
    """Draws windows that start at a sentence, sources in proportion to weight times size."""

    def __init__(self, corpus: TokenCorpus, sources: Sequence[Source], tokenizer: Tokenizer, seed: int) -> None:
        self.corpus = corpus
        self.random = np.random.default_rng(seed)
        vocabulary = tokenizer.get_vocab()
        self.cls, self.sep, self.pad = (vocabulary[t] for t in ("[CLS]", "[SEP]", "[PAD]"))
        lengths = np.diff(corpus.sentence_starts)
        weight = np.asarray([s.weight for s in sources])[corpus.source_of] * lengths
        paired = np.asarray([s.documents for s in sources])[corpus.source_of]
        self._any = np.cumsum(weight) / weight.sum()
        self._paired = np.cumsum(weight * paired) / max((weight * paired).sum(), 1)
        self._pool: list[list[list[int]]] = []

    def _sentence(self, cumulative: np.ndarray) -> int:
        return int(np.searchsorted(cumulative, self.random.random()))

    def _run(self, first: int, budget: int, whole: bool) -> tuple[list[int], int]:
        """Token ids from sentence ``first`` on, inside its document; and the sentence after them.

        With ``whole``, stop at the last sentence end that fits (a long first sentence is cut).
        """
        corpus, after = self.corpus, first
        start = int(corpus.sentence_starts[first])
        end = start
        while after < len(corpus.document_of) and corpus.document_of[after] == corpus.document_of[first]:
            stop = int(corpus.sentence_starts[after + 1])
            if stop - start > budget and whole and after > first:
                break
            end, after = stop, after + 1
            if end - start >= budget:
                break
        return corpus.tokens[start : min(end, start + budget)].tolist(), after

    def _pair(self, length: int) -> tuple[list[int], list[int], int]:
        budget = length - 3
        first = self._sentence(self._paired)
        a, after = self._run(first, int(self.random.uniform(0.3, 0.7) * budget), whole=True)
        follows = after < len(self.corpus.document_of) and (
            self.corpus.document_of[after] == self.corpus.document_of[first]
        )
        is_random = int(not follows or self.random.random() < 0.5)
        b, _ = self._run(self._sentence(self._paired) if is_random else after, budget - len(a), whole=False)
        return a, b, is_random

    def pairs(self, length: int, batch_tokens: int) -> Batch:
        """[CLS] A [SEP] B [SEP] rows of ``length`` tokens; half the Bs really follow."""
        drawn = [self._pair(length) for _ in range(max(1, batch_tokens // length))]
        rows = [[self.cls, *a, self.sep, *b, self.sep] for a, b, _ in drawn]
        segments = [[0] * (len(a) + 2) + [1] * (len(b) + 1) for a, b, _ in drawn]
        return self._batch(rows, segments, torch.tensor([label for *_, label in drawn]))

    def singles(self, length: int, batch_tokens: int) -> Batch:
        """[CLS] whole sentences [SEP]; rows of like length come together to save padding."""
        if not self._pool:
            drawn = [self._run(self._sentence(self._any), length - 2, whole=True)[0] for _ in range(2048)]
            rows = sorted(([self.cls, *ids, self.sep] for ids in drawn), key=len)
            cuts = [0]
            for i, row in enumerate(rows):
                if len(row) * (i + 1 - cuts[-1]) > batch_tokens:
                    cuts.append(i)
            groups = [rows[a:b] for a, b in zip(cuts, [*cuts[1:], len(rows)], strict=True)]
            self._pool = [groups[i] for i in self.random.permutation(len(groups))]
        rows = self._pool.pop()
        return self._batch(rows, [[0] * len(row) for row in rows], None)

    def draw(self, lengths: dict[int, float], batch_tokens: int) -> Batch:
        """A batch of pairs (3 in 5) or single sentences, at a window length drawn from ``lengths``."""
        length = int(self.random.choice(list(lengths), p=list(lengths.values())))
        if self.random.random() < 0.6:
            return self.pairs(length, batch_tokens)
        return self.singles(64, batch_tokens)

    def _batch(self, rows: list[list[int]], segments: list[list[int]], is_next: Tensor | None) -> Batch:
        width = max(map(len, rows))
        ids = torch.full((len(rows), width), self.pad)
        kinds = torch.zeros_like(ids)
        for i, (row, kind) in enumerate(zip(rows, segments, strict=True)):
            ids[i, : len(row)] = torch.tensor(row)
            kinds[i, : len(row)] = torch.tensor(kind)
        padded = any(len(row) < width for row in rows)
        return Batch(ids, kinds, ids.ne(self.pad).long() if padded else None, is_next, torch.full_like(ids, IGNORE))
