"""Which heads does a model need? The claims of Michel et al. 2019 about single heads, tested on minimal pairs.

Each head is ablated for every pair. Heads and orders of heads are chosen on half A of the pairs and measured on half B;
the halves do not share nouns, except attractors.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.named import untrained_twin
from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.needed_heads.claims import GREEDY, IMPORTANCE
from lab.evidence.needed_heads.heads import ABLATIONS, differences, only_one_head, without_each_head
from lab.evidence.needed_heads.pruning import at_random, by_importance, curve, greedily, importance
from lab.evidence.needed_heads.result import TWIN, Drawn, NeededTest, a_fifth, from_tables, mean_effects
from lab.evidence.needed_heads.sample import ABLATED, TO_MEAN, ZERO, gains
from lab.evidence.pairs import AskedPair, PairSet, can_be_asked, minimal_pairs, shared_words
from lab.evidence.verdicts import FEW
from lab.models.batches import Progress, unwatched
from lab.models.config import ModelConfig
from lab.models.interventions import Interventions
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

EXPERIMENT = "needed_heads"
# The least number of pairs (fewer if the vocabulary lacks words), the size of the sample of A on which heads are chosen
# greedily, the number of greedy steps, and the number of random orders.
PAIRS, SAMPLE, STEPS, RANDOM_ORDERS = 400, 60, 16, 4
# The cost of a run of lab-bert: CPU seconds on one core (31 on a quiet machine, 52 on a busy one), and
# heads · layers · (layers + 1) · cost of a token in a layer.
_SECONDS, _WORK = 45, 125_829_120


@dataclass(frozen=True)
class _Parts:
    """Reports the progress of a run whose parts have known relative costs."""

    tell: Progress
    costs: dict[str, float]

    def part(self, name: str, start: float = 0.0, end: float = 1.0) -> Progress:
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


@once
def untestable(model: LoadedModel) -> str:
    """The reason why nothing can be tested on ``model``, in a sentence; "" if something can be tested."""
    try:
        can_be_asked(model)
    except ValueError as reason:
        return str(reason)
    found = _asked(model)[1]
    few = min(sum(pair.pair.half == half for pair in found) for half in (0, 1))
    if few < FEW:
        return (
            f"The vocabulary of {model.id} has too few of the words as single pieces: one half has {few} pairs, and a "
            f"verdict takes {FEW}."
        )
    return ""


def minutes(config: ModelConfig) -> float:
    """Estimate the minutes of a run on one core, from the size of the model and the time of lab-bert."""
    a_token = config.width * (4 * config.width + 2 * config.ffn_width)
    return _SECONDS / 60 * config.heads * config.layers * (config.layers + 1) * a_token / _WORK


def _asked(model: LoadedModel) -> tuple[PairSet, tuple[AskedPair, ...]]:
    """Return the drawn pairs, and the pairs whose half has another pair of equal length to resample from."""
    count = sum(not (model.config.causal and template.decided_after) for template in TEMPLATES)
    drawn = minimal_pairs(model, 2 * -(-PAIRS // (2 * count)))
    lengths = Counter((pair.pair.half, len(pair.encoding)) for pair in drawn.pairs)
    return drawn, tuple(pair for pair in drawn.pairs if lengths[pair.pair.half, len(pair.encoding)] > 1)


def replicate(model: LoadedModel, progress: Progress = unwatched) -> NeededTest:
    """Run the experiment on ``model``; ``progress`` receives the share done, and an exception it raises ends the run.

    Raises ValueError if :func:`untestable` has a reason.
    """
    if reason := untestable(model):
        raise ValueError(reason)
    drawn, pairs = _asked(model)
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
        templates=tuple(_drawn(drawn, template.id) for template in TEMPLATES),
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


def _drawn(found: PairSet, template: str) -> Drawn:
    return Drawn(
        template, found.drawn.get(template, 0), found.dropped.get(template, 0), found.refused.get(template, "")
    )


def _alone(model: LoadedModel, pairs: Sequence[AskedPair], on_b: NDArray[np.bool_], parts: _Parts) -> dict[str, Any]:
    """For each layer, the head with the highest logit difference on A as the only head, and its results on B."""
    found = only_one_head(model, pairs, ZERO, parts.part("alone", 0, 0.7))
    to_mean = only_one_head(
        model, [pair for pair in pairs if pair.pair.half == 1], TO_MEAN, parts.part("alone", 0.7, 1)
    )
    best = found.changed[..., ~on_b].mean(axis=-1).argmax(axis=1)
    layers = np.arange(len(best))
    gained = gains(found.changed, found.plain)
    return {
        "kept": tuple((int(layer), int(head)) for layer, head in zip(layers, best, strict=True)),
        "alone": found.changed[layers, best][:, on_b],
        "alone_to_mean": to_mean.changed[layers, best],
        "alone_any": gained[..., on_b].mean(axis=(1, 2)),
        "alone_on_a": gained[layers, best][:, ~on_b].mean(axis=-1),
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
        "fifth_on_a": differences(model, a, Interventions(zero_heads=frozenset(orders[IMPORTANCE][:few]))),
        "fifth_to_mean": differences(model, b, Interventions(mean_heads=frozenset(orders[IMPORTANCE][:few]))),
    }


@cache
def data_hash() -> str:
    """Hash of everything but the model's vocabulary that decides the pairs and the samples."""
    return hashlib.sha256(repr((TEMPLATES, PAIRS, SAMPLE, STEPS, RANDOM_ORDERS)).encode()).hexdigest()


RESULTS = shipped.Results(EXPERIMENT, replicate, from_tables, data_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
