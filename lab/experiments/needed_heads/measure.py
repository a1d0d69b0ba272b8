"""Which heads does a model need? The claims of Michel et al. 2019 about single heads, tested on minimal pairs.

Each head is ablated for every pair. Heads and orders of heads are chosen on half A of the pairs and measured on half B;
the halves do not share nouns, except attractors.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.competition import differences
from lab.evidence.intervals import drawn_means, holm, p_above, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.measurement import Measurement
from lab.evidence.pairs import AskedPair, MinimalPair, can_be_asked, minimal_pairs, shared_words
from lab.evidence.tables import APART, Single
from lab.evidence.verdicts import ALPHA, FEW
from lab.experiments.needed_heads.ablations import (
    ABLATED,
    ABLATIONS,
    TO_MEAN,
    ZERO,
    Sample,
    gains,
    only_one_head,
    without_each_head,
)
from lab.experiments.needed_heads.claims import (
    GREEDY,
    IMPORTANCE,
    MARGIN,
    TestedClaim,
    claims,
    claims_in,
    draws_for,
)
from lab.experiments.needed_heads.pruning import at_random, by_importance, curve, greedily, importance
from lab.models.batches import ProgressFunction, unwatched
from lab.models.config import ModelConfig
from lab.models.interventions import Head, Interventions
from lab.models.twin import untrained_twin

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

TWIN = "untrained twin"


@dataclass(frozen=True, eq=False)
class MeanEffects:
    """The change of the logit difference without each head, as a mean over pairs; all arrays are (layers, heads).

    ``low`` and ``high`` are the 95 % interval; ``p`` is two-sided and corrected by Holm for all heads.
    """

    name: str
    mean: Values
    low: Values
    high: Values
    p: Values

    @property
    def clear(self) -> NDArray[np.bool_]:
        """(layers, heads), true for heads whose effect clearly differs from 0."""
        return self.p < ALPHA

    @property
    def largest(self) -> Head:
        """The head whose absence changes the logit difference most."""
        layer, head = np.unravel_index(int(np.abs(self.mean).argmax()), self.mean.shape)
        return int(layer), int(head)


def mean_effects(name: str, delta: Values, *shared: NDArray[np.int64]) -> MeanEffects:
    """The mean of ``delta`` (layers, heads, pairs), by a bootstrap over the words of ``shared``, (pairs,) each."""
    shape = delta.shape[:2]
    drawn = drawn_means(delta.reshape(-1, delta.shape[-1]).T, *shared, times=draws_for(delta[..., 0].size))
    low, high = spread(drawn).reshape(2, *shape)
    p = holm(np.minimum(2 * np.minimum(p_above(drawn), p_above(-drawn)), 1))
    return MeanEffects(name, delta.mean(axis=-1), low, high, p.reshape(shape))


@dataclass(frozen=True, eq=False)
class NeededTest:
    """The experiment's result on P pairs; half B is used for reporting. Heads count from 0.

    Attributes
    ----------
    pairs, groups
        The pairs, and (P,) a group number, equal for pairs that the model reads as the same tokens.
    plain, twin
        (P,) logit of the good form minus logit of the bad form, in the model and in its untrained twin.
    changed, to_mean
        (layers, heads, P) the model's difference without one head, which writes 0, or its mean over the sentence.
    twin_changed, twin_to_mean
        The same differences in the untrained twin.
    effects
        The mean effects on B of each ablation, and of a head set to 0 in the untrained twin.
    kept, alone, alone_to_mean
        The best single head of each layer on A, and (layers, pairs of B) the difference with its layer's other heads
        ablated.
    away, orders, curves
        (k,) the numbers of heads ablated together, the orders of their ablation, and (k, pairs of B) the difference.
    random
        (orders, k) the accuracy on B with heads ablated in random orders.
    fifth_to_mean
        (pairs of B,) the difference without the least important fifth of the heads, which write their mean.
    made
        The provenance of a shipped result; None for a result measured on this machine.
    """

    pairs: tuple[MinimalPair, ...]
    groups: NDArray[np.int64]
    plain: Single
    twin: Single
    changed: Single
    to_mean: Single
    twin_changed: Single
    twin_to_mean: Single
    effects: tuple[MeanEffects, ...]
    kept: tuple[Head, ...]
    alone: Single
    alone_to_mean: Single
    away: NDArray[np.int64]
    orders: Mapping[str, tuple[Head, ...]]
    curves: Mapping[str, Single]
    random: Values
    fifth_to_mean: Single
    made: shipped.Provenance | None = field(default=None, metadata=APART)

    @cached_property
    def b(self) -> NDArray[np.bool_]:
        """(P,), true for pairs of half B."""
        return np.array([pair.half == 1 for pair in self.pairs])

    @cached_property
    def sample(self) -> Sample:
        """All pairs."""
        return self._sample(np.ones(len(self.pairs), dtype=bool))

    def _sample(self, here: NDArray[np.bool_]) -> Sample:
        own, twin = (self.changed, self.to_mean), (self.twin_changed, self.twin_to_mean)
        changed, untrained = (
            {name: each[..., here] for name, each in zip(ABLATED, both, strict=True)} for both in (own, twin)
        )
        pairs = tuple(pair for pair, kept in zip(self.pairs, here, strict=True) if kept)
        return Sample(pairs, self.groups[here], self.plain[here], changed, self.twin[here], untrained)

    @property
    def delta(self) -> Values:
        """(layers, heads, P) the change of the difference; below 0 if the head helps the good form."""
        return self.changed - self.plain

    @property
    def fifth(self) -> int:
        """The index in ``away`` at which a fifth of the heads are ablated."""
        return int(np.flatnonzero(self.away == a_fifth(self.shape))[0])

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of layers and of heads."""
        layers, heads, _ = self.changed.shape
        return layers, heads

    def of(self, template: str) -> NDArray[np.bool_]:
        """(P,), true for pairs of ``template``."""
        return np.array([pair.template == template for pair in self.pairs])

    @cached_property
    def effect(self) -> MeanEffects:
        """The mean effect of every head, set to 0, over all pairs."""
        return mean_effects(ZERO, self.delta, *self.sample.shared)

    @cached_property
    def rows(self) -> tuple[TestedClaim, ...]:
        """The claims and their verdicts."""
        return claims(self)

    @cached_property
    def rows_in(self) -> Mapping[str, tuple[TestedClaim, ...]]:
        """For each template, the claims about single heads and their verdicts."""
        templates = dict.fromkeys(pair.template for pair in self.pairs)
        return {template: claims_in(self._sample(self.of(template))) for template in templates}

    def costly_in(self, template: str) -> tuple[Head, ...]:
        """Return the heads that, set to 0, cost a template at least :data:`MARGIN` of its accuracy."""
        lost = -gains(self.changed, self.plain)[..., self.of(template)].mean(axis=-1)
        return tuple((int(layer), int(head)) for layer, head in zip(*np.nonzero(lost >= MARGIN), strict=True))

    def row(self, claim: str) -> TestedClaim:
        """Return the row of one claim."""
        return next(row for row in self.rows if row.id == claim)


def a_fifth(shape: tuple[int, int]) -> int:
    """Return the number of heads in a fifth of all heads, rounded, and at least one."""
    return max(1, round(shape[0] * shape[1] / 5))


# The least number of pairs (fewer if the vocabulary lacks words), the size of the sample of A on which heads are chosen
# greedily, the number of greedy steps, and the number of random orders.
PAIRS, SAMPLE, STEPS, RANDOM_ORDERS = 400, 60, 16, 4
# The cost of a run of lab-bert: CPU seconds on one core (31 on a quiet machine, 52 on a busy one), and
# heads · layers · (layers + 1) · cost of a token in a layer.
_SECONDS, _WORK = 45, 125_829_120


@dataclass(frozen=True)
class _Parts:
    """Reports the progress of a run whose parts have known relative costs."""

    tell: ProgressFunction
    costs: dict[str, float]

    def part(self, name: str, start: float = 0.0, end: float = 1.0) -> ProgressFunction:
        """Return the progress function for a part, or for its stretch from ``start`` to ``end``."""
        names, whole = list(self.costs), sum(self.costs.values())
        before = sum(self.costs[each] for each in names[: names.index(name)])
        return lambda done: self.tell((before + self.costs[name] * (start + (end - start) * done)) / whole)


# Rough costs of the parts, relative to each other.
_COSTS = {
    "zero": 10.0,
    "sentence": 10.0,
    "twin": 20.0,
    "others": 14.0,
    "alone": 20.0,
    "importance": 2.0,
    "greedy": 20.0,
    "curves": 27.0,
}


def check(model: LoadedModel) -> None:
    """Raise ValueError, with the reason in a sentence, if nothing can be tested on ``model``."""
    can_be_asked(model)
    found = _asked(model)
    few = min(sum(pair.pair.half == half for pair in found) for half in (0, 1))
    if few < FEW:
        raise ValueError(
            f"The vocabulary of {model.id} has too few of the words as single pieces: one half has {few} pairs, and a "
            f"verdict takes {FEW}."
        )


def minutes(config: ModelConfig) -> float:
    """Estimate the minutes of a run on one core, from the size of the model and the time of lab-bert."""
    a_token = config.width * (4 * config.width + 2 * config.ffn_width)
    return _SECONDS / 60 * config.heads * config.layers * (config.layers + 1) * a_token / _WORK


def _asked(model: LoadedModel) -> tuple[AskedPair, ...]:
    """Return the drawn pairs whose half has another pair of equal length to resample from."""
    count = sum(not (model.config.causal and template.decided_after) for template in TEMPLATES)
    drawn = minimal_pairs(model, 2 * -(-PAIRS // (2 * count)))
    lengths = Counter((pair.pair.half, len(pair.encoding)) for pair in drawn.pairs)
    return tuple(pair for pair in drawn.pairs if lengths[pair.pair.half, len(pair.encoding)] > 1)


def replicate(model: LoadedModel, progress: ProgressFunction = unwatched) -> NeededTest:
    """Run the experiment on ``model``; ``progress`` receives the share done, and an exception it raises ends the run.

    Raises ValueError as :func:`check` does.
    """
    check(model)
    pairs = _asked(model)
    parts, groups, twin = _Parts(progress, _COSTS), _groups(pairs), untrained_twin(model)
    a, b = ([pair for pair in pairs if pair.pair.half == half] for half in (0, 1))
    zero, to_mean = (without_each_head(model, pairs, way, parts.part(way)) for way in ABLATED)
    both = [
        without_each_head(twin, pairs, way, parts.part("twin", number / 2, (number + 1) / 2))
        for number, way in enumerate(ABLATED)
    ]
    on_b = np.array([pair.pair.half == 1 for pair in pairs])
    deltas: dict[str, Values] = {each.ablation: each.delta[..., on_b] for each in (zero, to_mean)}
    others = [ablation for ablation in ABLATIONS if ablation not in ABLATED]
    for number, ablation in enumerate(others):
        tell = parts.part("others", number / len(others), (number + 1) / len(others))
        deltas[ablation] = without_each_head(model, b, ablation, tell).delta
    deltas[TWIN] = both[0].delta[..., on_b]
    words = shared_words([pair.pair for pair in b])
    return NeededTest(
        pairs=tuple(pair.pair for pair in pairs),
        groups=groups,
        plain=zero.plain,
        twin=both[0].plain,
        changed=zero.changed,
        to_mean=to_mean.changed,
        twin_changed=both[0].changed,
        twin_to_mean=both[1].changed,
        effects=tuple(mean_effects(name, delta, *words) for name, delta in deltas.items()),
        **_alone(model, pairs, on_b, parts),
        **_pruned(model, a, b, parts),
    )


def _groups(pairs: Sequence[AskedPair]) -> NDArray[np.int64]:
    """(pairs,) a group number, equal for pairs that the model reads as the same tokens."""
    numbers: dict[tuple[int, ...], int] = {}
    return np.array([numbers.setdefault(pair.encoding.token_ids, len(numbers)) for pair in pairs])


def _alone(model: LoadedModel, pairs: Sequence[AskedPair], on_b: NDArray[np.bool_], parts: _Parts) -> dict[str, Any]:
    """For each layer, the head with the highest logit difference on A as the only head, and its results on B."""
    found = only_one_head(model, pairs, ZERO, parts.part("alone", 0, 0.7))
    to_mean = only_one_head(
        model, [pair for pair in pairs if pair.pair.half == 1], TO_MEAN, parts.part("alone", 0.7, 1)
    )
    best = found.changed[..., ~on_b].mean(axis=-1).argmax(axis=1)
    layers = np.arange(len(best))
    return {
        "kept": tuple((int(layer), int(head)) for layer, head in zip(layers, best, strict=True)),
        "alone": found.changed[layers, best][:, on_b],
        "alone_to_mean": to_mean.changed[layers, best],
    }


def _pruned(model: LoadedModel, a: Sequence[AskedPair], b: Sequence[AskedPair], parts: _Parts) -> dict[str, Any]:
    """Orders of heads chosen on A, and the results on B with more and more heads ablated."""
    shape = model.config.layers, model.config.heads
    count, few = shape[0] * shape[1], a_fifth(shape)
    at_once = max(1, count // STEPS)
    sample = [a[at] for at in np.linspace(0, len(a) - 1, min(SAMPLE, len(a))).astype(int)]
    orders = {
        IMPORTANCE: by_importance(importance(model, a, parts.part("importance"))),
        GREEDY: greedily(model, sample, at_once, parts.part("greedy")),
    }
    drawn = [at_random(*shape, seed) for seed in range(RANDOM_ORDERS)]
    away = sorted({*range(0, count, at_once), few, count})
    lines = []
    for number, order in enumerate([*orders.values(), *drawn]):
        tell = parts.part("curves", number / (2 + len(drawn)), (number + 1) / (2 + len(drawn)))
        lines.append(curve(model, b, order, away, tell))
    return {
        "away": np.array(away),
        "orders": orders,
        "curves": dict(zip(orders, (line.difference for line in lines), strict=False)),
        "random": np.stack([line.accuracy for line in lines[2:]]),
        "fifth_to_mean": differences(model, b, Interventions(mean_heads=frozenset(orders[IMPORTANCE][:few]))),
    }


@cache
def data_hash() -> str:
    """Hash of everything but the model's vocabulary that decides the pairs and the samples."""
    return hashlib.sha256(repr((TEMPLATES, PAIRS, SAMPLE, STEPS, RANDOM_ORDERS)).encode()).hexdigest()


MEASUREMENT = Measurement("needed_heads", __name__, NeededTest, replicate, data_hash, check)
known, result, again = MEASUREMENT.known, MEASUREMENT.result, MEASUREMENT.again
untestable = MEASUREMENT.untestable
