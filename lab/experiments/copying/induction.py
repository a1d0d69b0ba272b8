"""Measure how a model copies: the model reads random tokens twice, and some heads continue the sequence (Olsson et al.
2022).

An induction head looks at the token that followed the current one last time. An induction head needs an earlier head
that tells each token which token came before (Elhage et al. 2021, "Induction heads").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lab.analysis.heads.induction import fresh_encoding, induction_score, repeated_encoding
from lab.analysis.heads.values import Values, as_heads
from lab.models import forward
from lab.models.batches import (
    ProgressFunction,
    by_length,
    layer_attentions,
    numbers_a_run,
    rerun_batch,
    run_batch,
    unwatched,
)
from lab.models.encoding import Encoding
from lab.models.interventions import Head, Interventions
from lab.models.trace import outputs

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# The two ablations: an ablated head writes 0, or its mean over the text.
ZERO, MEAN = "zero", "mean"
ABLATIONS = (ZERO, MEAN)
# Numbers in memory at once: 20 MB of logits, and another 20 MB while the logits are summed.
_ROOM = 5_000_000


@dataclass(frozen=True, eq=False)
class Taken:
    """Losses with some heads ablated, by one kind of ablation.

    Attributes
    ----------
    losses
        Loss of every next token without some heads, in nats: (texts of B, 2 · period − 1). Keys: ``"plain"``,
        ``"best"``, ``"source"``, ``"both"``; only the first two if there is no source.
    controls
        Losses without one or two random other heads, by the number of heads: (draws, texts of B, 2 · period − 1).
    """

    losses: Mapping[str, Values]
    controls: Mapping[int, Values]


@dataclass(frozen=True, eq=False)
class Copying:
    """Scores of a causal model's heads on random tokens read twice, and its losses without some heads.

    The first half of the texts (A) chooses the heads; :attr:`taken` is measured on the second half (B).

    Attributes
    ----------
    period
        The number of random tokens that are repeated.
    induction, previous
        (layers, heads, texts) ``induction``: the weight that a head gives to the token that followed the current one
        last time, as a mean over the queries of the second copy. ``previous``: the weight for the token before, as a
        mean over all queries but the first.
    best
        The head (from 0) with the highest induction score on A.
    dependence
        (layers, heads) how much the induction score of ``best`` falls on A when each earlier head writes 0; NaN for
        heads of its own and later layers.
    source
        The head whose absence lowers the score of ``best`` most; None if there is no earlier layer.
    taken
        The losses without heads, by :data:`ABLATIONS`.
    drawn
        The heads drawn as controls, by the number of heads in a draw.
    """

    period: int
    induction: Values
    previous: Values
    best: Head
    dependence: Values
    source: Head | None
    taken: Mapping[str, Taken]
    drawn: Mapping[int, Sequence[frozenset[Head]]]

    def second(self, losses: Values) -> Values:
        """The part of ``losses`` that copying can lower, (..., period − 1): the second copy without its first token."""
        return losses[..., self.period :]

    @property
    def chosen(self) -> int:
        """The number of texts on which the heads were chosen (A); the rest are B."""
        return self.induction.shape[-1] // 2


def copying(
    model: LoadedModel, period: int = 50, texts: int = 16, draws: int = 8, progress: ProgressFunction = unwatched
) -> Copying:
    """Find the best induction head and the head that it depends on, and ablate both heads in two ways.

    As controls, ``draws`` different random heads and ``draws`` random couples of heads are ablated. Text number s is
    drawn with seed s. ``progress`` receives the share done, 0 to 1; an exception it raises ends the run.

    Raises
    ------
    ValueError
        If the model is not causal, cannot hold the texts or predicts no words, or if there are fewer than two texts.
    """
    if not model.config.causal:
        raise ValueError(f"{model.id} sees the whole text; copying by induction is measured in causal models.")
    if texts < 2:
        raise ValueError("half of the texts choose the heads and half report them, so there must be two.")
    read = [repeated_encoding(model, period, seed) for seed in range(texts)]
    for_choice, for_report = read[: texts // 2], read[texts // 2 :]
    induction, previous = head_scores(model, read, period)
    best = highest(induction[..., : texts // 2].mean(axis=-1))
    # A best head in the first layer depends on no earlier head, so there is no couple to ablate.
    couples = 1 if best[0] else 0
    others = model.config.layers * model.config.heads - 1 - couples
    runs = 2 * (1 + couples) + sum(min(draws, comb(others, count)) for count in (1, 2)[: 1 + couples])
    steps = best[0] * model.config.heads + len(ABLATIONS) * runs
    done = (number / steps for number in range(1, steps + 1))

    def tell() -> None:
        progress(next(done))

    dependence = _dependence(model, for_choice, period, best, tell)
    source = None if best[0] == 0 else highest(np.nan_to_num(dependence, nan=-np.inf))
    rest = [head for head in np.ndindex(dependence.shape) if head not in (best, source)]
    drawn = {count: _drawn(rest, count, draws) for count in ((1,) if source is None else (1, 2))}
    away = {"plain": frozenset[Head](), "best": frozenset({best})}
    if source is not None:
        away |= {"source": frozenset({source}), "both": frozenset({best, source})}
    taken = {ablation: _taken(model, for_report, ablation, away, drawn, tell) for ablation in ABLATIONS}
    return Copying(period, induction, previous, best, dependence, source, taken, drawn)


def _dependence(
    model: LoadedModel, encodings: Sequence[Encoding], period: int, best: Head, tell: Callable[[], None]
) -> Values:
    """Return how much the best head's score falls without each earlier head, (layers, heads); NaN for later heads."""
    found = np.full((model.config.layers, model.config.heads), np.nan)
    stream = run_batch(model, encodings)
    whole = _score(model, stream, period, best, Interventions())
    for place in np.ndindex(best[0], model.config.heads):
        found[place] = whole - _score(model, stream, period, best, without(frozenset({place}), ZERO))
        tell()
    return found


def _taken(
    model: LoadedModel,
    encodings: Sequence[Encoding],
    ablation: str,
    away: Mapping[str, frozenset[Head]],
    drawn: Mapping[int, Sequence[frozenset[Head]]],
    tell: Callable[[], None],
) -> Taken:
    """Return the losses without each choice of heads in ``away``, and without the random heads in ``drawn``."""
    plain = [run_batch(model, [encodings[place] for place in batch]) for batch in _batches(model, encodings)]

    def lost(heads: frozenset[Head]) -> Values:
        found = losses(model, encodings, without(heads, ablation), plain)
        tell()
        return found

    controls = {count: np.stack([lost(heads) for heads in each]) for count, each in drawn.items()}
    return Taken({kind: lost(heads) for kind, heads in away.items()}, controls)


@dataclass(frozen=True, eq=False)
class Distance:
    """The best head's score on repeated tokens, and its weight at the same distance in texts without repetition.

    A head that only looks a fixed number of tokens back has equal values in ``repeated`` and ``fresh``, both (texts,).
    """

    period: int
    repeated: Values
    fresh: Values


def distances(model: LoadedModel, head: Head, periods: Sequence[int], seeds: Sequence[int]) -> list[Distance]:
    """Test whether ``head`` looks for a token or for a distance, at every period that the model can hold twice."""
    found = []
    for period in periods:
        if 2 * period > model.config.max_tokens:
            continue
        both = [
            [encoding_of(model, period, seed) for seed in seeds] for encoding_of in (repeated_encoding, fresh_encoding)
        ]
        repeated, fresh = (head_scores(model, read, period)[0][head] for read in both)
        found.append(Distance(period, repeated, fresh))
    return found


def head_scores(model: LoadedModel, encodings: Sequence[Encoding], period: int) -> tuple[Values, Values]:
    """Induction score and previous-token score of every head in every text, each (layers, heads, texts)."""
    config = model.config
    induction = np.empty((config.layers, config.heads, len(encodings)))
    previous = np.empty_like(induction)
    for batch in by_length(encodings, lambda n: _ROOM // numbers_a_run(config, n)):
        for layer, weights in enumerate(layer_attentions(model, [encodings[place] for place in batch])):
            for place, attention in zip(batch, weights, strict=True):
                induction[layer, :, place] = induction_score(attention, period)
                previous[layer, :, place] = as_heads(attention).diagonal(-1, 1, 2).mean(axis=-1, dtype=np.float64)
    return induction, previous


@torch.inference_mode()
def losses(
    model: LoadedModel,
    encodings: Sequence[Encoding],
    changes: Interventions | None = None,
    plain: Sequence[Tensor] | None = None,
) -> Values:
    """−ln P of every token but the first, (texts, n − 1), with ``changes`` made to the pass; texts of one length.

    If only heads change, pass each batch's unchanged stream as ``plain``: then the layers before the first change are
    not computed again.
    """
    n, config = len(encodings[0]), model.config
    found, changes = np.empty((len(encodings), n - 1)), changes or Interventions()
    for number, batch in enumerate(_batches(model, encodings)):
        read = [encodings[place] for place in batch]
        if plain is None:
            last = run_batch(model, read, changes)[-1]
        else:
            last = rerun_batch(model, plain[number], changes, config.layers)
        logits = forward.vocabulary_logits(outputs(model, last)[:, :-1], model.vocabulary_head, config)
        true = torch.tensor([encoding.token_ids[1:] for encoding in read])[..., None]
        found[batch] = (logits.logsumexp(dim=-1) - logits.gather(-1, true)[..., 0]).numpy()
    return found


def _batches(model: LoadedModel, encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Yield batches of texts, as indices into ``encodings``; the logits of a batch fit into memory."""
    config = model.config
    return by_length(encodings, lambda n: _ROOM // max(n * config.vocabulary, numbers_a_run(config, n)))


def without(heads: frozenset[Head], ablation: str) -> Interventions:
    """Return interventions that make ``heads`` write 0, or their mean over the text."""
    return Interventions(zero_heads=heads) if ablation == ZERO else Interventions(mean_heads=heads)


@torch.inference_mode()
def _score(model: LoadedModel, plain: Tensor, period: int, head: Head, changes: Interventions) -> float:
    """A head's induction score with heads of earlier layers changed, as a mean over the texts of a ``plain`` stream."""
    layer, number = head
    x = rerun_batch(model, plain, changes, layer)
    weights = forward.run_layer(x, model.weights.layers[layer], model.config).attention.attention
    return float(np.mean([induction_score(each[number : number + 1], period) for each in weights]))


def highest(scores: Values) -> Head:
    """Return the head (layer and head, from 0) with the highest of ``scores`` (layers, heads)."""
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head)


def _drawn(heads: Sequence[Head], count: int, draws: int) -> list[frozenset[Head]]:
    """Draw ``draws`` different choices of ``count`` heads by a fixed seed; return all choices if there are fewer."""
    every = list(combinations(heads, count))
    chosen = np.random.default_rng(count).permutation(len(every))[:draws]
    return [frozenset(every[place]) for place in chosen]
