"""Ablate more and more heads: by the gradient, greedily or at random (Michel et al. 2019, §4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.evidence.competition import differences, each_batch
from lab.evidence.pairs import AskedPair, encodings
from lab.experiments.needed_heads.ablations import HeadEffects, each_head
from lab.models import forward
from lab.models.ablation import HeadChange
from lab.models.batches import ProgressFunction, numbers_a_run, unwatched
from lab.models.forward import Steps
from lab.models.gradients import gradients, parts
from lab.models.interventions import Head, Interventions, heads_off
from lab.models.layer_trace import changed
from lab.models.trace import outputs

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True, eq=False)
class Pruned:
    """The logit differences of the pairs with more and more heads ablated.

    Attributes
    ----------
    order
        The heads (layer, head from 0) in the order of their ablation.
    away
        (k,) the number of ablated heads, from 0.
    difference
        (k, pairs) logit of the good form minus logit of the bad form with these heads ablated.
    """

    order: tuple[Head, ...]
    away: Values
    difference: Values

    @property
    def accuracy(self) -> Values:
        """(k,) the share of pairs in which the good form wins."""
        return (self.difference > 0).mean(axis=1)


def importance(model: LoadedModel, pairs: Sequence[AskedPair], progress: ProgressFunction = unwatched) -> Values:
    """|Att_hᵀ ∂L/∂Att_h| of each head and pair, (layers, heads, pairs); I_h is its mean over the pairs.

    L is the training loss: minus the log probability of the good form among all words. Att_h is the head's input to
    W_O. Michel et al. 2019 (§4.1, equation 2) take the product after W_O; both products are equal, because the
    derivative with respect to a factor before the head is the same in both places.
    """
    found = np.empty((model.config.layers, model.config.heads, len(pairs)))

    def of_batch(batch: Sequence[int]) -> Values:
        own = [pairs[place] for place in batch]
        slope, stream = gradients(model, encodings(own), partial(_loss, model, own))
        context = parts(model, stream).context
        return np.asarray((context * slope.context).sum(dim=(-2, -1)).abs().transpose(1, 2).numpy())

    for batch, sizes in each_batch(model, pairs, lambda c, n: 4 * numbers_a_run(c, n), of_batch, progress):
        found[..., batch] = sizes
    return found


def _loss(model: LoadedModel, pairs: Sequence[AskedPair], last: Tensor) -> Tensor:
    """−ln P of the good form of each pair, (b,), from last hidden states (b, n, d)."""
    at = torch.arange(len(pairs))
    there = outputs(model, last)[at, [pair.place for pair in pairs]]
    logits = forward.vocabulary_logits(there, model.vocabulary_head, model.config)
    return -logits.log_softmax(dim=-1)[at, [pair.good for pair in pairs]]


def ranked(scores: Values) -> tuple[Head, ...]:
    """Heads (from 0) sorted by ``scores`` (layers, heads), the lowest first; of equal heads, the earlier first."""
    order = np.argsort(scores, axis=None, kind="stable")
    return tuple((int(place) // scores.shape[1], int(place) % scores.shape[1]) for place in order)


def by_importance(each: Values) -> tuple[Head, ...]:
    """Heads sorted by I_h, the least important first: the mean over pairs, divided by its ℓ2 norm in the layer.

    ``each`` is (layers, heads, pairs), as from :func:`importance` (Michel et al. 2019, §4.1, after Molchanov).
    """
    mean = each.mean(axis=-1)
    norm = np.linalg.norm(mean, axis=1, keepdims=True)
    return ranked(mean / np.where(norm > 0, norm, 1))


def at_random(layers: int, heads: int, seed: int) -> tuple[Head, ...]:
    """Return all heads in a random order."""
    return ranked(np.random.default_rng(seed).random((layers, heads)))


def greedily(
    model: LoadedModel, pairs: Sequence[AskedPair], at_once: int = 2, progress: ProgressFunction = unwatched
) -> tuple[Head, ...]:
    """Ablate the ``at_once`` heads that are cheapest to lose; measure the others again, and go on until none is left.

    The cost is measured by the mean logit difference without the head on ``pairs``, so report the curve on other pairs.
    """
    config = model.config
    order: list[Head] = []
    count = config.layers * config.heads
    while len(order) < count:
        effects = _also_without(model, pairs, frozenset(order))
        rest = [head for head in ranked(-effects.changed.mean(axis=-1)) if head not in order]
        order += rest[:at_once]
        progress(len(order) / count)
    return tuple(order)


def _also_without(model: LoadedModel, pairs: Sequence[AskedPair], away: frozenset[Head]) -> HeadEffects:
    """Return the effect of ablating each head in addition to the heads of ``away``."""
    mask = torch.zeros(model.config.layers, model.config.heads, dtype=torch.bool)
    for layer, head in away:
        mask[layer, head] = True

    def off(layer: int, heads: Tensor) -> Steps:
        return changed(context=heads_off(heads | mask[layer], None))

    def everywhere(_: Sequence[int]) -> HeadChange:
        return off

    return each_head(model, pairs, everywhere, "zero", away)


def curve(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    order: Sequence[Head],
    away: Iterable[int] | None = None,
    progress: ProgressFunction = unwatched,
) -> Pruned:
    """The differences with the first k heads of ``order`` set to 0, for every k of ``away``; by default 0 to all."""
    counts = list(range(len(order) + 1) if away is None else away)
    found = []
    for done, count in enumerate(counts, start=1):
        found.append(differences(model, pairs, Interventions(zero_heads=frozenset(order[:count]))))
        progress(done / len(counts))
    return Pruned(tuple(order), np.array(counts), np.stack(found))
