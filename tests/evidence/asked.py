"""Pairs to ask any tiny model, and what Hugging Face says about them with heads changed by hooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lab.evidence.pairs import AskedPair, MinimalPair
from lab.models.encoding import encode
from lab.models.loading import LoadedModel
from tests.models.reference import Theirs, changed_input

SENTENCES = (
    "The cat sat on the mat.",
    "The dog sat on the cat.",
    "The train to London leaves the river.",
    "The music was so loud that nobody heard the bell.",
    "The teacher was so loud that nobody heard the river.",
    "He walked on the moon.",
)


def asked_pairs(model: LoadedModel) -> list[AskedPair]:
    """Six questions of at least two lengths, some of them alone with their length; the two words are any."""
    found = []
    for number, text in enumerate(SENTENCES):
        encoding = encode(model.tokenizer, model.config, text)
        other = encode(model.tokenizer, model.config, SENTENCES[number - 1])
        pair = MinimalPair("any", text, text, "good", "bad", number % 2)
        place = len(encoding) - 1 if model.config.causal else len(encoding) // 2
        found.append(AskedPair(pair, encoding, other, place, 1, 20 + number, 40 + number))
    return found


def twice(pairs: Sequence[AskedPair]) -> list[AskedPair]:
    """The pairs, and each a second time with one token changed: no length has a single pair."""
    changed = [
        replace(p, encoding=replace(p.encoding, token_ids=(*p.encoding.token_ids[:2], 60, *p.encoding.token_ids[3:])))
        for p in pairs
    ]
    return [*pairs, *changed]


def drawn_by_words(values: np.ndarray, pairs: Sequence[MinimalPair], seed: int, times: int = 1500) -> np.ndarray:
    """Means of ``values`` (pairs, …) with every noun and every verb drawn one by one, (times, …).

    A pair counts as often as its noun was drawn, times as often as its verb was: the pigeonhole bootstrap with loops.
    """
    rng, drawn = np.random.default_rng(seed), []
    words = [np.unique([getattr(pair, name) for pair in pairs], return_inverse=True) for name in ("noun", "verb")]
    for _ in range(times):
        counts = [np.bincount(rng.integers(len(each), size=len(each)), minlength=len(each)) for each, _ in words]
        weights = np.prod([count[of] for count, (_, of) in zip(counts, words, strict=True)], axis=0)
        drawn.append(weights @ values / weights.sum())
    return np.array(drawn)


Change = Callable[[Tensor], Tensor]


def their_last(theirs: Theirs, pair: AskedPair, changes: Sequence[tuple[int, Change]] = ()) -> Tensor:
    """Hugging Face's logits at the place of a pair, (vocabulary,); ``changes`` are made to what W_O of a layer reads.

    A change takes (1, n, d) and returns it.
    """
    from contextlib import ExitStack

    with ExitStack() as stack:
        for layer, change in changes:
            stack.enter_context(changed_input(theirs.output_projection(layer), change))
        logits = theirs.run_ids(**ids_of(pair)).logits
    assert logits is not None
    return logits[pair.place]


def ids_of(pair: AskedPair) -> dict[str, Tensor]:
    return {"input_ids": torch.tensor([pair.encoding.token_ids])}


def their_difference(theirs: Theirs, pair: AskedPair, changes: Sequence[tuple[int, Change]] = ()) -> float:
    """Logit of the good form less that of the bad one."""
    logits = their_last(theirs, pair, changes)
    return float(logits[pair.good] - logits[pair.bad])


def their_contexts(theirs: Theirs, pair: AskedPair, layers: int) -> list[Tensor]:
    """What W_O of each layer reads in a plain run, (n, d)."""
    seen: dict[int, Tensor] = {}

    def look(layer: int) -> Change:
        def keep(x: Tensor) -> Tensor:
            seen[layer] = x[0].clone()
            return x

        return keep

    their_last(theirs, pair, [(layer, look(layer)) for layer in range(layers)])
    return [seen[layer] for layer in range(layers)]


def near(ours: object, theirs: object, tolerance: float = 1e-4) -> None:
    """Fail unless both are arrays of one shape that differ by at most ``tolerance`` anywhere."""
    one, two = np.asarray(ours), np.asarray(theirs)
    assert one.shape == two.shape
    assert np.abs(one - two).max() <= tolerance, np.abs(one - two).max()
