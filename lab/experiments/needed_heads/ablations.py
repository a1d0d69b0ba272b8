"""Measure which heads a model needs for grammar: ablate each head, and let the forms of minimal pairs compete again.

Michel et al. 2019 ("Are Sixteen Heads Really Better than One?") and Voita et al. 2019, on the pairs of
:mod:`lab.evidence.pairs`. The measure is the logit of the good form minus the logit of the bad form. Unlike a
probability, this difference also reveals heads that work against the good form (Zhang & Nanda 2024, §4). Later layers
may make up for a missing head, so the measured effect is a lower bound of the head's effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.evidence.competition import compete, each_batch, places
from lab.evidence.intervals import drawn_means, p_above
from lab.evidence.pairs import AskedPair, MinimalPair, encodings, shared_words
from lab.evidence.verdicts import ALPHA
from lab.models.ablation import HeadChange, change_heads_at
from lab.models.batches import (
    ProgressFunction,
    by_length,
    contexts,
    numbers_a_run,
    run_batch,
    unwatched,
)
from lab.models.config import ModelConfig
from lab.models.forward import Steps
from lab.models.interventions import Head, Interventions, heads_level, heads_off
from lab.models.layer_trace import become, changed
from lab.models.one_token import of_token

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Ablation = Literal["zero", "sentence", "corpus", "resample", "uniform"]
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """The logit difference of each pair without each head.

    Attributes
    ----------
    ablation
        The kind of output that replaces the head's output.
    plain
        (pairs,) logit of the good form minus logit of the bad form with all heads on.
    changed
        (layers, heads, pairs) the same difference with one head ablated.
    """

    ablation: str
    plain: Values
    changed: Values

    @property
    def delta(self) -> Values:
        """(layers, heads, pairs) change of the logit difference; below 0 if the head helps the good form."""
        return self.changed - self.plain

    @property
    def accuracy(self) -> float:
        """The share of pairs in which the good form wins with all heads on."""
        return float((self.plain > 0).mean())


def without_each_head(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    ablation: Ablation = "zero",
    progress: ProgressFunction = unwatched,
) -> HeadEffects:
    """Ablate every head, one at a time, for every pair.

    Parameters
    ----------
    model
        A model that predicts words.
    pairs
        Pairs as from :func:`lab.evidence.pairs.minimal_pairs`.
    ablation
        The replacement for a head at the input of W_O. ``"zero"``: 0. ``"sentence"``: the head's mean over the
        sentence's tokens. ``"corpus"``: its mean over all tokens of all pairs. ``"resample"``: its output in another
        pair of equal length, drawn with a fixed seed. ``"uniform"``: it keeps its values but attends equally to all
        tokens that it may see.
    progress
        Receives the share done, 0 to 1, between batches; an exception it raises ends the run.

    Raises
    ------
    ValueError
        If there is no other pair of equal length to resample from.
    """
    return each_head(model, pairs, _replacement(model, pairs, ablation), ablation, progress=progress)


def only_one_head(
    model: LoadedModel, pairs: Sequence[AskedPair], ablation: Ablation = "zero", progress: ProgressFunction = unwatched
) -> HeadEffects:
    """Leave one head on in its layer and ablate all other heads of that layer (Michel et al. 2019, table 2).

    The other heads write 0, or for ``"sentence"`` their mean over the sentence's tokens.
    """

    def others(_layer: int, heads: Tensor) -> Steps:
        off, to_mean = (None, ~heads) if ablation == "sentence" else (~heads, None)
        return changed(context=heads_off(off, to_mean))

    return each_head(model, pairs, lambda _: others, "only one", progress=progress)


# A function from the places of a batch's pairs to the steps that replace their heads.
Replacement = Callable[[Sequence[int]], HeadChange]


def each_head(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    replacement: Replacement,
    name: str,
    away: frozenset[Head] = frozenset(),
    progress: ProgressFunction = unwatched,
) -> HeadEffects:
    """Return the effect of each head, replaced by the steps of ``replacement``, one head of one layer at a time.

    The heads of ``away`` write 0 in all runs, also in the plain run.
    """
    config, off = model.config, Interventions(zero_heads=away)
    plain, changed = np.empty(len(pairs)), np.empty((config.layers, config.heads, len(pairs)))
    still = torch.ones(config.layers, config.heads, dtype=torch.bool)
    for head in away:
        still[head] = False

    def of_batch(batch: Sequence[int]) -> tuple[Values, Values]:
        own = [pairs[place] for place in batch]
        stream, at = run_batch(model, encodings(own), off), places(own)
        others = [off.steps(layer, config, stream.shape[2]) for layer in range(config.layers)]
        there = change_heads_at(model, stream, replacement(batch), still, at, others)
        before = compete(model, of_token(stream[-1], at)[:, 0], own)
        after = np.tile(before, (config.layers, config.heads, 1))  # ablating a head twice changes nothing
        after[still.numpy()] = compete(model, there, own)
        return before, after

    for batch, found in each_batch(model, pairs, _held_by_each_head, of_batch, progress):
        plain[batch], changed[..., batch] = found
    return HeadEffects(name, plain, changed)


def _held_by_each_head(config: ModelConfig, n: int) -> int:
    """Return five times the count of numbers that the runs of a pair of n tokens keep between two layers.

    The factor of five makes batches small and short, so that a core is soon free for other work.
    """
    return 5 * config.layers * config.heads * n * config.width


def _replacement(model: LoadedModel, pairs: Sequence[AskedPair], ablation: Ablation) -> Replacement:
    if ablation == "corpus":
        means = corpus_means(model, pairs)
        return lambda _: lambda layer, heads: _become(heads, means[layer, :, None])
    if ablation == "resample":
        partner = partners(pairs)

        def from_partners(batch: Sequence[int]) -> HeadChange:
            read = [pairs[partner[place]].encoding for place in batch]
            found = contexts(model, run_batch(model, read))
            return lambda layer, heads: _become(heads, found[layer])

        return from_partners
    step: dict[Ablation, Callable[[Tensor], Steps]] = {
        "zero": lambda heads: changed(context=heads_off(heads, None)),
        "sentence": lambda heads: changed(context=heads_off(None, heads)),
        "uniform": lambda heads: changed(scaled_scores=heads_level(heads)),
    }
    return lambda _: lambda _l, heads: step[ablation](heads)


def _become(heads: Tensor, context: Tensor) -> Steps:
    return changed(context=become(context, heads[..., None, None]))


def corpus_means(model: LoadedModel, pairs: Sequence[AskedPair]) -> Tensor:
    """Each head's context vector, averaged over all tokens of all pairs: (layers, heads, d_k)."""

    def of_batch(batch: Sequence[int]) -> Tensor:
        read = encodings([pairs[place] for place in batch])
        return contexts(model, run_batch(model, read)).sum(dim=(1, 3))

    sums = [found for _, found in each_batch(model, pairs, numbers_a_run, of_batch)]
    return torch.stack(sums).sum(dim=0) / sum(len(pair.encoding) for pair in pairs)


def partners(pairs: Sequence[AskedPair], seed: int = 0) -> list[int]:
    """For each pair, return the index of another pair of equal length: the next pair in a random ring.

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


# The two ablations that a verdict needs: heads write 0, or their mean over the sentence.
ZERO: Ablation = "zero"
TO_MEAN: Ablation = "sentence"
ABLATED = (ZERO, TO_MEAN)


def gains(changed: ArrayLike, plain: Values) -> Values:
    """(…, pairs) 1 if the good form wins only with the change, −1 if it wins only without it, else 0."""
    return (np.asarray(changed) > 0).astype(np.float64) - (plain > 0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Some pairs of a result, such as one template's pairs, on which the claims about single heads are tested.

    Attributes
    ----------
    pairs
        (P,) the pairs.
    groups
        (P,) a group number, equal for pairs that the model reads as the same tokens.
    plain, twin_plain
        (P,) logit of the good form minus logit of the bad form, in the model and in its untrained twin.
    changed, twin_changed
        By ablation, (layers, heads, P) the difference without each head, in the model and in its untrained twin.
    """

    pairs: tuple[MinimalPair, ...]
    groups: NDArray[np.int64]
    plain: Values
    changed: Mapping[Ablation, Values]
    twin_plain: Values
    twin_changed: Mapping[Ablation, Values]

    @cached_property
    def b(self) -> NDArray[np.bool_]:
        """(P,), true for pairs of half B."""
        return np.array([pair.half == 1 for pair in self.pairs], dtype=bool)

    @cached_property
    def shared(self) -> tuple[NDArray[np.int64], ...]:
        """The nouns and the verbs of the pairs, (P,) each."""
        return shared_words(self.pairs)

    def shared_in(self, here: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
        """Return the nouns and the verbs of some of the pairs."""
        return tuple(words[here] for words in self.shared)

    def different(self, here: NDArray[np.bool_] | None = None) -> int:
        """Return the number of different sentences that the model reads in these pairs."""
        return len(np.unique(self.groups if here is None else self.groups[here]))

    def without(self, ablation: Ablation) -> Values:
        """(layers, heads, P) the change of accuracy without each head."""
        return gains(self.changed[ablation], self.plain)

    def twin_without(self, ablation: Ablation) -> Values:
        """(layers, heads, P) the change of the twin's accuracy without each of its heads."""
        return gains(self.twin_changed[ablation], self.twin_plain)

    @property
    def right(self) -> Values:
        """(P,) 1 if the good form wins with all heads, else 0."""
        return (self.plain > 0).astype(np.float64)

    @property
    def beyond_guessing(self) -> bool:
        """True if the model with all heads is clearly right more often than a model that guesses."""
        return bool(p_above(drawn_means(self.right, *self.shared), 0.5) < ALPHA)
