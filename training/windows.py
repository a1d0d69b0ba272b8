"""From a :class:`TokenCorpus` to masked training batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from training.corpus import Source, TokenCorpus

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Batch:
    """One training batch; its rows are equally long, so nothing is padded and nothing masked off.

    inputs, segments  (b, n) int64
    is_next           (b,)   0 = B follows A, 1 = random; None for single sentences
    chosen            (k,)   positions to predict, counted through the flattened batch
    labels            (k,)   the tokens that stood there
    """

    inputs: Tensor
    segments: Tensor
    is_next: Tensor | None
    chosen: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same batch on ``device``."""
        is_next = None if self.is_next is None else self.is_next.to(device)
        inputs, segments = self.inputs.to(device), self.segments.to(device)
        return Batch(inputs, segments, is_next, self.chosen.to(device), self.labels.to(device))


class _Endless(IterableDataset[T_co]):
    def __init__(self, draws: Callable[[int], Iterator[T_co]]) -> None:
        self._draws = draws

    def __iter__(self) -> Iterator[T_co]:
        worker = get_worker_info()
        return self._draws(worker.id if worker else 0)


def endless(draws: Callable[[int], Iterator[T_co]], workers: int) -> Iterator[T_co]:
    """Batches without end. So many processes draw them ahead, where a machine computes faster than one can draw.

    ``draws`` is given the number of its worker, from 0: each should begin at another seed.
    """
    ahead = 4 if workers else None
    return iter(DataLoader(_Endless(draws), batch_size=None, num_workers=workers, prefetch_factor=ahead))


Lengths = Mapping[int, float]
# Draws one batch of windows of these lengths.
Draw = Callable[[Lengths], T_co]


class Batches(Generic[T_co]):
    """Batches drawn ahead; they begin anew when the lengths of the windows become others.

    ``sampler`` makes what draws a batch, from a seed and the number of its worker.
    """

    def __init__(self, sampler: Callable[[int, int], Draw[T_co]], workers: int) -> None:
        self._sampler, self._workers = sampler, workers
        self._lengths: Lengths | None = None

    def next(self, lengths: Lengths, seed: int) -> T_co:
        """One batch; ``seed`` counts where the lengths are new."""
        if lengths is not self._lengths:
            self._lengths = lengths
            self._ahead = endless(partial(_drawn, self._sampler, lengths, seed), self._workers)
        return next(self._ahead)


def _drawn(sampler: Callable[[int, int], Draw[T_co]], lengths: Lengths, seed: int, worker: int) -> Iterator[T_co]:
    draw = sampler(seed, worker)
    while True:
        yield draw(lengths)


def mask_tokens(
    batch: Batch, rate: float, tokenizer: Tokenizer, generator: torch.Generator, *, keep: float = 0.1, swap: float = 0.1
) -> Batch:
    """Choose ``rate`` of the ordinary tokens; 80 % become [MASK], 10 % random, 10 % stay (Devlin §3.1).

    The number chosen depends on the batch's shape alone: shapes that repeat keep oneDNN's cache small.
    """
    vocabulary = tokenizer.get_vocab()
    device = batch.inputs.device
    special = torch.tensor([vocabulary[t] for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")], device=device)
    rows, width = batch.inputs.shape
    flat = batch.inputs.flatten()
    lottery = torch.rand(flat.shape, generator=generator, device=device).masked_fill(torch.isin(flat, special), 2.0)
    # Two special tokens a row at least; rounding keeps the count one of a few.
    count = max(1, round(rate * rows * (width - 2)))
    chosen = lottery.argsort()[:count]
    fate = torch.rand(count, generator=generator, device=device)
    swapped = torch.randint(5, len(vocabulary), (count,), generator=generator, device=device)
    labels = flat[chosen]
    shown = torch.where(fate < keep, labels, torch.where(fate < keep + swap, swapped, vocabulary["[MASK]"]))
    inputs = flat.scatter(0, chosen, shown).view(rows, width)
    return replace(batch, inputs=inputs, chosen=chosen, labels=labels)


Row = tuple[list[int], list[int], int]


def _batch(rows: list[Row], pairs: bool) -> Batch:
    ids, segments, following = zip(*rows, strict=True)
    none = torch.zeros(0, dtype=torch.int64)
    return Batch(torch.tensor(ids), torch.tensor(segments), torch.tensor(following) if pairs else None, none, none)


class WindowSampler:
    """Draws windows that start at a sentence, sources in proportion to weight times size."""

    def __init__(
        self, corpus: TokenCorpus, sources: Sequence[Source], tokenizer: Tokenizer, seed: int | Sequence[int]
    ) -> None:
        self.corpus = corpus
        self.random = np.random.default_rng(seed)
        vocabulary = tokenizer.get_vocab()
        self.cls, self.sep, self.pad = (vocabulary[t] for t in ("[CLS]", "[SEP]", "[PAD]"))
        lengths = np.diff(corpus.sentence_starts)
        weight = np.asarray([s.weight for s in sources])[corpus.source_of] * lengths
        paired = np.asarray([s.documents for s in sources])[corpus.source_of]
        self._any = np.cumsum(weight) / weight.sum()
        self._paired = np.cumsum(weight * paired) / max((weight * paired).sum(), 1)
        self._baskets: dict[tuple[int, bool], dict[int, list[Row]]] = {}

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

    def _pair(self, length: int, whole: bool) -> Row:
        """[CLS] A [SEP] B [SEP], its segments, and whether B is random (1) or follows (0)."""
        budget = length - 3
        first = self._sentence(self._paired)
        a, after = self._run(first, int(self.random.uniform(0.3, 0.7) * budget), whole=True)
        follows = after < len(self.corpus.document_of) and (
            self.corpus.document_of[after] == self.corpus.document_of[first]
        )
        is_random = int(not follows or self.random.random() < 0.5)
        b, _ = self._run(self._sentence(self._paired) if is_random else after, budget - len(a), whole=whole)
        return [self.cls, *a, self.sep, *b, self.sep], [0] * (len(a) + 2) + [1] * (len(b) + 1), is_random

    def _single(self, length: int) -> Row:
        ids, _ = self._run(self._sentence(self._any), length - 2, whole=True)
        return [self.cls, *ids, self.sep], [0] * (len(ids) + 2), 0

    def _fill(self, length: int, batch_tokens: int, pairs: bool) -> Batch:
        """Draw rows into baskets by their length until one holds a batch.

        Long windows are cut to full length: too few rows of any other length would come together.
        """
        baskets = self._baskets.setdefault((length, pairs), {})
        while True:
            row = self._pair(length, whole=length <= 64) if pairs else self._single(length)
            width = len(row[0])
            if pairs and length > 64 and width < length:
                continue
            basket = baskets.setdefault(width, [])
            basket.append(row)
            if len(basket) >= max(1, batch_tokens // width):
                return _batch(baskets.pop(width), pairs)

    def groups(self, length: int, rows: int, *, pairs: bool) -> list[Batch]:
        """``rows`` windows of at most ``length`` tokens as they come, one batch for each length among them."""
        drawn: dict[int, list[Row]] = {}
        for _ in range(rows):
            row = self._pair(length, whole=True) if pairs else self._single(length)
            drawn.setdefault(len(row[0]), []).append(row)
        return [_batch(drawn[width], pairs) for width in sorted(drawn)]

    def pairs(self, length: int, batch_tokens: int) -> Batch:
        """[CLS] A [SEP] B [SEP] rows of at most ``length`` tokens; half the Bs really follow."""
        return self._fill(length, batch_tokens, pairs=True)

    def singles(self, length: int, batch_tokens: int) -> Batch:
        """[CLS] whole sentences [SEP], at most ``length`` tokens."""
        return self._fill(length, batch_tokens, pairs=False)

    def draw(self, lengths: Lengths, batch_tokens: int) -> Batch:
        """A batch of pairs (3 in 5) or single sentences, at a window length drawn from ``lengths``."""
        length = int(self.random.choice(list(lengths), p=list(lengths.values())))
        if self.random.random() < 0.6:
            return self.pairs(length, batch_tokens)
        return self.singles(64, batch_tokens)
