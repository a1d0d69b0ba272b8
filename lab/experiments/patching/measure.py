"""Where is the deciding information kept? The claims of Meng et al. 2022 about facts, tested on a subject's number.

Minimal pairs of one template ("The boys near the house are old.") are patched part by part
(:mod:`lab.experiments.patching.patches`).

Layers are chosen on half A of the pairs, and all results are reported on half B, which has other nouns. Verdicts
compare logits; shares of the difference between the two runs are for the reader. The model with random weights is drawn
anew :data:`TWINS` times, so that what depends on the draw is in the interval.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.intervals import CLAIM_DRAWS, crossed_draws, drawn_means, family_of, no_event, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.measurement import Measurement
from lab.evidence.pairs import AskedPair, MinimalPair, PairSet, can_be_asked, encodings, minimal_pairs, shared_words
from lab.evidence.tables import APART
from lab.evidence.verdicts import FEW, Effect, Judged, TwinEffect, judge
from lab.experiments.patching.claims import (
    CLAIMS,
    DIRECTIONS,
    LAST_LAYER,
    LATE,
    LAYERS,
    LOGITS,
    Chosen,
    PatchClaim,
    carried,
    choose,
    compared,
    crossing,
    early,
    mean,
)
from lab.experiments.patching.patches import Maps, NotPatchable, TemplatePatching, patch_template, stacked
from lab.models.batches import ProgressFunction, run_batch, unwatched
from lab.models.gradients import parts
from lab.models.twin import twin, untrained_seed

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True, eq=False)
class PairRow:
    """A patched pair: logit of the good minus the bad word in both runs, and the numbers of each claim, (claims, 2).

    ``twin`` is the number of the untrained twin, from 0; −1 for the model itself.
    """

    pair: MinimalPair
    clean: float
    corrupt: float
    numbers: Values
    twin: int = -1


@dataclass(frozen=True, eq=False)
class Carried:
    """The share that each part carries in one direction: means over half A and half B, and B's 95 % interval."""

    on_a: Maps
    on_b: Maps
    low: Maps
    high: Maps


@dataclass(frozen=True)
class PatchingRow:
    """A claim on half B.

    Attributes
    ----------
    first, second
        The means of the claim's two numbers.
    twin
        The mean effect in the untrained twins; None if they could not be patched.
    judged
        The verdict, and the effect with its interval, by a bootstrap over the nouns and verbs of the pairs and, for the
        twins, over the twins.
    """

    claim: PatchClaim
    first: float
    second: float
    twin: float | None
    judged: Judged

    @property
    def effect(self) -> Effect:
        return self.judged.effect


@dataclass(frozen=True, eq=False)
class PatchingTest:
    """The experiment's result.

    Attributes
    ----------
    pairs, refused
        The patched pairs, and the pairs whose two runs differ too little, with the reason.
    tokens, subject, asked
        The name of each token of a pair; the place (from 0) of the deciding token, and of the token that predicts.
    carried
        The shares that parts carry, by :data:`lab.experiments.patching.claims.DIRECTIONS`.
    lengths
        (layers, 2), at the deciding token of the clean runs of B: the length of what attention and the network add, as
        multiples of the length of the vector that enters the layer.
    twins
        Pairs of B in :data:`TWINS` untrained twins; layers were chosen in each twin on as many pairs of A.
    made
        The provenance of a shipped result; None for a result measured on this machine.
    """

    pairs: tuple[PairRow, ...]
    refused: tuple[tuple[MinimalPair, str], ...]
    tokens: tuple[str, ...]
    subject: int
    asked: int
    carried: Mapping[str, Carried]
    lengths: Values
    twins: tuple[PairRow, ...]
    made: shipped.Provenance | None = field(default=None, metadata=APART)

    @property
    def layers(self) -> int:
        return len(self.lengths)

    def half(self, half: int) -> list[PairRow]:
        """Return the pairs of half A (0) or B (1)."""
        return [row for row in self.pairs if row.pair.half == half]

    def chosen(self, direction: str) -> Chosen:
        """Return the layers chosen on half A."""
        return choose(self.carried[direction].on_a, self.subject, self.asked)

    def crosses(self, direction: str, half: int = 1) -> int:
        """Return the layer, from 1, in which the means of a half's two lines cross."""
        means = self.carried[direction]
        return crossing((means.on_b if half else means.on_a).residual, self.subject, self.asked)

    @cached_property
    def gap(self) -> float:
        """The mean size of the difference between the two runs of a pair of B, in logits."""
        return float(np.mean([abs(row.clean - row.corrupt) for row in self.half(1)]))

    @cached_property
    def rows(self) -> tuple[PatchingRow, ...]:
        """The claims in order, with verdicts; no claim is judged on fewer than :data:`FEW` pairs of B."""
        b = np.stack([row.numbers for row in self.half(1)])
        effects = _differences(b)
        untrained = _differences(np.stack([row.numbers for row in self.twins])) if self.twins else None
        own, twins = self._drawn(effects, untrained)
        found = family_of(own)
        beside = [None] * len(CLAIMS) if twins is None else _beside(own, twins)
        means = [None] * len(CLAIMS) if untrained is None else untrained.mean(axis=0).tolist()

        def row(at: int, claim: PatchClaim) -> PatchingRow:
            low, high, p, p_below = (float(each[at]) for each in (found.low, found.high, found.p, found.p_below))
            ours = float(effects[:, at].mean())
            if claim.unit == LAYERS and not effects[:, at].std():
                low, high = _no_pair_differs(ours, len(b), self.layers)
            effect = Effect(
                ours,
                low,
                high,
                p,
                p_below,
                len(b),
                bound=claim.bound * (self.gap if claim.unit == LOGITS else 1.0),
                twin=beside[at],
                untestable=self._untestable(claim),
            )
            first, second = b[:, at].mean(axis=0).tolist()
            return PatchingRow(claim, first, second, means[at], judge(effect))

        return tuple(row(at, claim) for at, claim in enumerate(CLAIMS))

    def _drawn(self, effects: Values, untrained: Values | None) -> tuple[Values, Values | None]:
        """Return the mean effects in each draw, in the model and in its twins, each (draws, claims).

        Both have the same drawn words; of the twins, some are drawn more than once and some not at all.
        """
        words = shared_words([row.pair for row in (*self.half(1), *self.twins)])
        if untrained is None:
            return drawn_means(effects, *words, times=CLAIM_DRAWS), None
        drawn_words = crossed_draws(*words, times=CLAIM_DRAWS)
        drawn_twins = crossed_draws([row.twin for row in self.twins], times=CLAIM_DRAWS, seed=1)
        found = list[tuple[Values, Values]]()
        for weights, times in zip(drawn_words, drawn_twins, strict=True):
            own, other = np.split(weights, [len(effects)], axis=1)
            found.append((_weighted(own, effects), _weighted(other * times, untrained)))
        own, twins = (np.concatenate(each) for each in zip(*found, strict=True))
        return own, twins

    def _untestable(self, claim: PatchClaim) -> str:
        """The reason why half A makes a claim untestable on this model; "" if it can be tested."""
        return LAST_LAYER if claim.id == LATE and self.crosses(claim.direction, 0) >= self.layers else ""


def _beside(own: Values, twins: Values) -> list[TwinEffect | None]:
    """Return each claim's effect in the twins, from the draws (draws, claims) of both effects.

    A claim about gradients is about a method, which may work without training: no twin is compared.
    """
    about = [at for at, claim in enumerate(CLAIMS) if claim.direction]
    found, apart = family_of(twins[:, about]), family_of((own - twins)[:, about])
    columns = (each.tolist() for each in (found.low, found.high, apart.p, apart.p_below))
    effects = dict(zip(about, (TwinEffect(*each) for each in zip(*columns, strict=True)), strict=True))
    return [effects.get(at) for at in range(len(CLAIMS))]


def _no_pair_differs(before: float, count: int, layers: int) -> tuple[float, float]:
    """Return the interval of the mean, if all ``count`` pairs cross the same number of layers ``before`` the last one.

    By the rule of three, a few other pairs may cross elsewhere: at worst all of them in the last layer, or all in the
    first.
    """
    return before * (1 - no_event(count)), before + no_event(count) * (layers - 1 - before)


def _weighted(weights: Values, effects: Values) -> Values:
    """Return the means of ``effects`` (pairs, claims), (draws, claims); nan for a draw of none of these pairs."""
    with np.errstate(invalid="ignore"):
        return np.asarray(weights @ effects / weights.sum(axis=1, keepdims=True))


def _differences(numbers: Values) -> Values:
    """Return the effects, (pairs, claims): the difference of each claim's two numbers."""
    return np.asarray(numbers[..., 0] - numbers[..., 1])


# This template has tokens between the deciding noun and the blank, among them another noun. Without that noun, each
# pair would be another pair with its sentences exchanged, and both directions of patching would give the same numbers.
TEMPLATE = next(each for each in TEMPLATES if each.id == "prepositional")
PAIRS = 160
# The untrained twins, and the pairs of each half that are patched in each.
TWINS, TWIN_PAIRS = 5, 24
# The names of the tokens in the template's slots.
_SLOTS = {"noun": "subject", "preposition": "preposition", "attractor": "other noun", "tail": "last word"}
_TINY = 1e-6  # the size, in logits, below which a difference is only rounding


def check(model: LoadedModel) -> None:
    """Raise ValueError, with the reason in a sentence, if ``model`` cannot be tested."""
    can_be_asked(model)
    early(model.config.layers)
    asked = _asked(model)
    if not asked.half(0) or len(asked.half(1)) < FEW:
        raise ValueError(
            f"Its vocabulary has too few of the words as one piece: {len(asked.pairs)} pairs can be made of them."
        )


def _asked(model: LoadedModel) -> PairSet:
    return minimal_pairs(model, PAIRS, templates=[TEMPLATE])


def replicate(model: LoadedModel, progress: ProgressFunction = unwatched) -> PatchingTest:
    """Run the experiment on ``model`` and its untrained twin: a minute or two for a small model.

    ``progress`` receives the share done, 0 to 1; an exception it raises ends the run. Raises ValueError
    as :func:`check` does, and NotPatchable if no pair of a half can be patched.
    """
    asked = _asked(model).pairs
    own = patch_template(model, asked, lambda done: progress(0.4 * done))
    subject, place = own.pairs[0].deciding, own.pairs[0].place
    halves = np.array([each.pair.half for each in own.pairs])
    if len(set(halves.tolist())) < 2:
        raise NotPatchable("In one half of these pairs no two sentences differ enough to be patched.")
    words = shared_words([each.pair for each in own.pairs if each.pair.half])
    shares = [carried(each) for each in own.patchings]
    means = {direction: _carried([each[direction] for each in shares], halves, words) for direction in DIRECTIONS}
    return PatchingTest(
        _rows(own, {direction: choose(each.on_a, subject, place) for direction, each in means.items()}),
        tuple((each.pair, why) for each, why in own.refused),
        names_of(own.pairs[0]),
        subject,
        place,
        means,
        lengths(model, [each for each in own.pairs if each.pair.half]),
        _twins(model, own.pairs, lambda done: progress(0.4 + 0.6 * done)),
    )


def _rows(own: TemplatePatching, chosen: Mapping[str, Chosen], number: int = -1) -> tuple[PairRow, ...]:
    """Return the pairs with the numbers of their claims, in the model or in the twin with this number."""
    at = own.pairs[0].deciding, own.pairs[0].place
    return tuple(
        PairRow(each.pair, found.clean, found.corrupt, compared(found, chosen, *at), number)
        for each, found in zip(own.pairs, own.patchings, strict=True)
    )


def _carried(shares: Sequence[Maps], halves: Values, words: Sequence[NDArray[np.int64]]) -> Carried:
    """The means over both halves, and the intervals for B by a bootstrap over the ``words`` that its pairs share."""
    every = stacked(shares)
    a, b = (Maps(*(getattr(every, f.name)[halves == half] for f in fields(Maps))) for half in (0, 1))
    ends = [spread(drawn_means(getattr(b, f.name), *words)) for f in fields(Maps)]
    on_a, on_b = (Maps(*(getattr(each, f.name).mean(0) for f in fields(Maps))) for each in (a, b))
    return Carried(on_a, on_b, Maps(*(each[0] for each in ends)), Maps(*(each[1] for each in ends)))


def lengths(model: LoadedModel, pairs: Sequence[AskedPair]) -> Values:
    """Return how long the outputs of attention and network are at the deciding token, (layers, 2), as means over pairs.

    Both are multiples of the length of the vector that enters the layer: the longer a vector, the more of a difference
    it can carry.
    """
    both = parts(model, run_batch(model, encodings(pairs)))
    at = range(len(pairs)), [pair.deciding for pair in pairs]
    entering = both.residual[:-1, *at].norm(dim=-1)
    ratios = [(each[:, *at].norm(dim=-1) / entering).mean(dim=1) for each in (both.attention, both.ffn)]
    return np.stack([each.double().numpy() for each in ratios], axis=-1)


def _twins(model: LoadedModel, pairs: Sequence[AskedPair], progress: ProgressFunction) -> tuple[PairRow, ...]:
    """Patch pairs of half B in each untrained twin, with layers chosen in this twin on pairs of half A."""
    few = [pair for half in (0, 1) for pair in [each for each in pairs if each.pair.half == half][:TWIN_PAIRS]]
    first, rows = untrained_seed(model.id)[1], list[PairRow]()
    for number in range(TWINS):
        tell = partial(_told, progress, number)
        found = patch_template(twin(model, first + number), few, tell, least=_TINY)
        if len({pair.pair.half for pair in found.pairs}) < 2:
            continue
        at = found.pairs[0].deciding, found.pairs[0].place
        a = [carried(each) for each, pair in zip(found.patchings, found.pairs, strict=True) if pair.pair.half == 0]
        chosen = {direction: choose(mean([each[direction] for each in a]), *at) for direction in DIRECTIONS}
        rows += [row for row in _rows(found, chosen, number) if row.pair.half == 1]
    return tuple(rows)


def _told(progress: ProgressFunction, number: int, done: float) -> None:
    progress((number + done) / TWINS)


def names_of(asked: AskedPair) -> tuple[str, ...]:
    """Return a name for each token that fits all pairs: its slot in the template, or its word.

    Each word is one token.
    """
    words = iter(re.findall(r"\w+|\.", TEMPLATE.frame))
    both = zip(asked.encoding.tokens, asked.encoding.special, strict=True)
    names = ((token, None if special else next(words)) for token, special in both)
    return tuple(token if word in (None, "blank") else _SLOTS.get(word, word) for token, word in names)


def data_hash() -> str:
    """Hash of everything but the model's vocabulary that decides the pairs: template, words and number of pairs."""
    return hashlib.sha256(repr((TEMPLATE, PAIRS, TWINS, TWIN_PAIRS)).encode()).hexdigest()


MEASUREMENT = Measurement("patching", __name__, PatchingTest, replicate, data_hash, check)
known, result, again = MEASUREMENT.known, MEASUREMENT.result, MEASUREMENT.again
untestable = MEASUREMENT.untestable
