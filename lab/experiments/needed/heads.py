"""Which heads a model needs for grammar: each one is taken away, and the forms of minimal pairs compete again.

Michel et al. 2019 ("Are Sixteen Heads Really Better than One?") and Voita et al. 2019, on the pairs of
:mod:`lab.experiments.pairs`. The measure is the logit of the good form less that of the bad one: unlike a probability,
it shows heads that work against the good form, too (Zhang & Nanda 2024, §4). Later layers may repair what a missing
head did, so an effect is a lower bound of what the head does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.experiments.pairs import AskedPair, encodings
from lab.models.ablation import HeadChange, change_each_head
from lab.models.batches import Progress, by_length, contexts, logits_of, numbers_a_run, run_batch, unwatched
from lab.models.forward import Steps
from lab.models.interventions import Interventions, contexts_become, heads_level, heads_off

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Ablation = Literal["zero", "sentence", "corpus", "resample", "uniform"]
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)
# Numbers that the runs of a batch keep between two layers, and twice that while they are joined: 40 MB.
_ROOM = 5_000_000


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """What taking each head away does to each pair.

    Attributes
    ----------
    ablation
        What stands in for the head.
    plain
        (pairs,) logit of the good form less that of the bad one with all heads on.
    changed
        (layers, heads, pairs) the same with one head away.
    """

    ablation: str
    plain: Values
    changed: Values

    @property
    def delta(self) -> Values:
        """(layers, heads, pairs) how much the difference changes; below 0 where the head helps the good form."""
        return self.changed - self.plain

    @property
    def accuracy(self) -> float:
        """The share of pairs in which the good form wins with all heads on."""
        return float((self.plain > 0).mean())


def differences(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    changes: Interventions | None = None,
    progress: Progress = unwatched,
) -> Values:
    """Logit of the good form less that of the bad one for every pair, (pairs,), with ``changes`` made to the pass.

    ``progress`` is told the share that is done between batches; what it raises ends the run.
    """
    found = np.empty(len(pairs))
    for batch in batches(model, pairs, numbers_a_run, progress):
        own = [pairs[place] for place in batch]
        found[batch] = compete(model, run_batch(model, encodings(own), changes or Interventions())[-1], own)
    return found


def without_each_head(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    ablation: Ablation = "zero",
    progress: Progress = unwatched,
) -> HeadEffects:
    """Take every head away, one at a time, for every pair.

    Parameters
    ----------
    model
        A model that predicts words.
    pairs
        As :func:`lab.experiments.pairs.minimal_pairs` makes them.
    ablation
        What replaces a head at the input of W_O. ``"zero"``: 0. ``"sentence"``: its mean over the sentence's tokens.
        ``"corpus"``: its mean over all tokens of all pairs. ``"resample"``: what it does in another pair of equal
        length, drawn by a fixed seed. ``"uniform"``: it attends equally to all it may see, so its values stay.
    progress
        Is told the share that is done, between batches; what it raises ends the run.

    Raises
    ------
    ValueError
        If a pair has no other of equal length to resample from.
    """
    return each_head(model, pairs, _replacement(model, pairs, ablation), ablation, progress=progress)


def only_one_head(model: LoadedModel, pairs: Sequence[AskedPair], progress: Progress = unwatched) -> HeadEffects:
    """Leave one head on in its layer and take (0) all others of that layer away (Michel et al. 2019, table 2)."""

    return each_head(model, pairs, lambda _: _all_others_off, "only one", progress=progress)


# From the places of a batch's pairs to the steps that replace their heads.
Replacement = Callable[[Sequence[int]], HeadChange]


def each_head(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    replacement: Replacement,
    name: str,
    away: Interventions | None = None,
    progress: Progress = unwatched,
) -> HeadEffects:
    """The same with steps of your own, which change one head of one layer at a time.

    ``away`` is what is changed already: the plain run, and the layers above and below the head, are made with it.
    """
    config, away = model.config, away or Interventions()
    plain, changed = np.empty(len(pairs)), np.empty((config.layers, config.heads, len(pairs)))
    for batch in batches(model, pairs, lambda c, n: c.layers * c.heads * n * c.width, progress):
        own = [pairs[place] for place in batch]
        stream = run_batch(model, encodings(own), away)
        others = [away.steps(layer, config, stream.shape[2]) for layer in range(config.layers)]
        plain[batch] = compete(model, stream[-1], own)
        changed[..., batch] = compete(model, change_each_head(model, stream, replacement(batch), others), own)
    return HeadEffects(name, plain, changed)


def _all_others_off(_layer: int, heads: Tensor, _texts: Tensor) -> Steps:
    return Steps(mix_values=heads_off(~heads, None))


def _replacement(model: LoadedModel, pairs: Sequence[AskedPair], ablation: Ablation) -> Replacement:
    if ablation == "corpus":
        means = corpus_means(model, pairs)
        return lambda _: lambda layer, heads, _t: _become(heads, means[layer, :, None])
    if ablation == "resample":
        partner = partners(pairs)

        def from_partners(batch: Sequence[int]) -> HeadChange:
            read = [pairs[partner[place]].encoding for place in batch]
            found = contexts(model, run_batch(model, read))
            return lambda layer, heads, texts: _become(heads, found[layer][texts])

        return from_partners
    step: dict[Ablation, Callable[[Tensor], Steps]] = {
        "zero": lambda heads: Steps(mix_values=heads_off(heads, None)),
        "sentence": lambda heads: Steps(mix_values=heads_off(None, heads)),
        "uniform": lambda heads: Steps(mask=heads_level(heads)),
    }
    return lambda _: lambda _l, heads, _t: step[ablation](heads)


def _become(heads: Tensor, context: Tensor) -> Steps:
    return Steps(mix_values=contexts_become(heads[..., None, None], context))


def corpus_means(model: LoadedModel, pairs: Sequence[AskedPair]) -> Tensor:
    """What each head mixes together, as a mean over all tokens of all pairs: (layers, heads, d_k)."""
    total, tokens = torch.zeros(()), 0
    for batch in batches(model, pairs, numbers_a_run, unwatched):
        read = [pairs[place].encoding for place in batch]
        total = total + contexts(model, run_batch(model, read)).sum(dim=(1, 3))
        tokens += sum(map(len, read))
    return total / tokens


def partners(pairs: Sequence[AskedPair], seed: int = 0) -> list[int]:
    """For each pair the place of another of equal length: the next one in a random ring.

    Raises ValueError if a pair is the only one of its length.
    """
    rng, found = np.random.default_rng(seed), [0] * len(pairs)
    for own in by_length(encodings(pairs), lambda _: len(pairs)):
        if len(own) < 2:
            n = len(pairs[own[0]].encoding)
            raise ValueError(f"there is no other sentence of {n} tokens to take a head's output from.")
        ring = rng.permutation(own)
        for here, after in zip(ring, np.roll(ring, -1), strict=True):
            found[here] = int(after)
    return found


def rank_correlations(means: Sequence[Values]) -> Values:
    """Spearman's ρ between the mean effects (layers, heads) of all heads under each of k ablations, (k, k)."""
    columns = {number: each.ravel() for number, each in enumerate(means)}
    return pd.DataFrame(columns).rank().corr().to_numpy(dtype=np.float64)


def compete(model: LoadedModel, last: Tensor, pairs: Sequence[AskedPair]) -> Values:
    """Logit of the good form less that of the bad one, (..., b), from last hidden states (..., b, n, d)."""
    return np.asarray(competition(model, last, pairs).numpy(), dtype=np.float64)


def competition(model: LoadedModel, last: Tensor, pairs: Sequence[AskedPair]) -> Tensor:
    """The same as a tensor, which a gradient can pass."""
    words = sorted({word for pair in pairs for word in (pair.good, pair.bad)})
    there = last[..., range(len(pairs)), [pair.place for pair in pairs], :]
    logits = logits_of(model, there, words)
    at = torch.arange(len(pairs))
    good, bad = (torch.tensor([words.index(word) for word in forms]) for forms in _forms(pairs))
    return logits[..., at, good] - logits[..., at, bad]


def _forms(pairs: Sequence[AskedPair]) -> tuple[list[int], list[int]]:
    return [pair.good for pair in pairs], [pair.bad for pair in pairs]


def batches(
    model: LoadedModel, pairs: Sequence[AskedPair], held: Callable[..., int], progress: Progress
) -> Iterator[list[int]]:
    """Places of pairs of equal length, a batch at a time; ``held(config, n)`` is how many numbers a pair takes."""
    done = 0
    for batch in by_length(encodings(pairs), lambda n: _ROOM // held(model.config, n)):
        yield batch
        done += len(batch)
        progress(done / len(pairs))
