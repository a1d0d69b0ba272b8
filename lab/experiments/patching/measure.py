"""Where is the deciding information kept? The claims of Meng et al. 2022 about facts, tested on a subject's number.

Minimal pairs of one template ("The boys near the house are old.") are patched part by part
(:mod:`lab.experiments.patching.patches`).

Layers are chosen on half A of the pairs, and all results are reported on half B, which has other nouns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.competition import differences
from lab.evidence.intervals import drawn_means, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.measurement import Measurement
from lab.evidence.pairs import AskedPair, PairSet, can_be_asked, minimal_pairs, shared_words
from lab.evidence.verdicts import FEW
from lab.experiments.patching.claims import (
    DIRECTIONS,
    NEEDED,
    Chosen,
    carried,
    choose,
    compared,
    early,
    mean,
)
from lab.experiments.patching.patches import (
    SMALL,
    Maps,
    NotPatchable,
    TemplatePatching,
    contrast,
    patch_template,
    stacked,
)
from lab.experiments.patching.path import Relay, relayed
from lab.models.batches import ProgressFunction, unwatched
from lab.models.twin import untrained_twin

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


from dataclasses import dataclass, field
from functools import cached_property

from lab.evidence.intervals import crossed_draws, family_of
from lab.evidence.pairs import MinimalPair
from lab.evidence.tables import APART
from lab.evidence.verdicts import Effect, Judged, TwinEffect, judge
from lab.experiments.patching.claims import (
    CLAIMS,
    LAST_LAYER,
    LATE,
    PatchClaim,
    crossing,
)


@dataclass(frozen=True, eq=False)
class PairRow:
    """A patched pair: logit of the good minus the bad word in both runs, and the numbers of each claim, (claims, 2)."""

    pair: MinimalPair
    clean: float
    corrupt: float
    numbers: Values


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
    low, high
        The 95 % interval of the effect, ``first`` − ``second``, by a bootstrap over the nouns and verbs of the pairs.
    p
        The probability of a draw at or below 0, corrected by Holm for all claims.
    on_a
        The effect on half A, where layers were chosen.
    twin, twin_count
        The effect in the untrained twin, and the number of its pairs of B; None if the twin could not be patched.
    beside_twin
        The interval of the twin's effect, and the probability of a draw in which the model's is not above it.
    """

    claim: PatchClaim
    first: float
    second: float
    low: float
    high: float
    p: float
    count: int
    on_a: float
    twin: float | None
    twin_count: int
    beside_twin: TwinEffect | None
    judged: Judged

    @property
    def effect(self) -> float:
        return self.first - self.second


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
    estimated
        The recovered shares of clean into corrupt, as estimated by gradients; means over half B.
    relays
        By direction, the share that the chosen attention brings to the asked token with networks held, on half B.
    twin
        The pairs of B in the untrained twin, out of the half of all pairs in which the twin's runs differ most.
    made
        The provenance of a shipped result; None for a result measured on this machine.
    """

    pairs: tuple[PairRow, ...]
    refused: tuple[tuple[MinimalPair, str], ...]
    tokens: tuple[str, ...]
    subject: int
    asked: int
    carried: Mapping[str, Carried]
    estimated: Maps
    relays: Mapping[str, Relay]
    twin: tuple[PairRow, ...]
    made: shipped.Provenance | None = field(default=None, metadata=APART)

    @property
    def layers(self) -> int:
        return len(self.estimated.ffn)

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
    def rows(self) -> tuple[PatchingRow, ...]:
        """The claims in order, with verdicts; no claim is judged on fewer than :data:`FEW` pairs of B."""
        a, b = (np.stack([row.numbers for row in self.half(half)]) for half in (0, 1))
        effects, on_a = _differences(b), _differences(a).mean(axis=0)
        untrained = _differences(np.stack([row.numbers for row in self.twin])) if self.twin else None
        own, twins = self._drawn(effects, untrained)
        found = family_of(own)
        beside = [None] * len(CLAIMS) if twins is None else _beside(own, twins)
        means = [None] * len(CLAIMS) if untrained is None else untrained.mean(axis=0).tolist()

        def row(at: int, claim: PatchClaim) -> PatchingRow:
            low, high, p = (float(each[at]) for each in (found.low, found.high, found.p))
            effect = Effect(
                float(effects[:, at].mean()),
                low,
                high,
                p,
                len(b),
                bound=claim.bound,
                twin=beside[at],
                untestable=self._untestable(claim),
            )
            first, second = b[:, at].mean(axis=0).tolist()
            return PatchingRow(
                claim,
                first,
                second,
                low,
                high,
                p,
                len(b),
                float(on_a[at]),
                means[at],
                len(self.twin),
                beside[at],
                judge(effect),
            )

        return tuple(row(at, claim) for at, claim in enumerate(CLAIMS))

    def _drawn(self, effects: Values, twin: Values | None) -> tuple[Values, Values | None]:
        """Return the mean effects in each draw, in the model and in its twin, each (draws, claims)."""
        pairs = [row.pair for row in (*self.half(1), *self.twin)]
        weights = np.concatenate(list(crossed_draws(*shared_words(pairs))))
        own, other = np.split(weights, [len(effects)], axis=1)
        with np.errstate(invalid="ignore"):
            drawn = own @ effects / own.sum(axis=1, keepdims=True)
            if twin is None:
                return drawn, None
            return drawn, other @ twin / other.sum(axis=1, keepdims=True)

    def _untestable(self, claim: PatchClaim) -> str:
        """The reason why half A makes a claim untestable on this model; "" if it can be tested."""
        return LAST_LAYER if claim.id == LATE and self.crosses(claim.direction, 0) >= self.layers else ""


def _beside(own: Values, twins: Values) -> list[TwinEffect]:
    """Return each claim's effect in the twin, from the draws (draws, claims) of both models' effects."""
    found, p = family_of(twins), family_of(own - twins).p
    return [TwinEffect(*each) for each in zip(found.low.tolist(), found.high.tolist(), p.tolist(), strict=True)]


def _differences(numbers: Values) -> Values:
    """Return the effects, (pairs, claims): the difference of each claim's two numbers."""
    return np.asarray(numbers[..., 0] - numbers[..., 1])


# This template has tokens between the deciding noun and the blank, among them another noun. Without that noun, each
# pair would be another pair with its sentences exchanged, and both directions of patching would give the same numbers.
TEMPLATE = next(each for each in TEMPLATES if each.id == "prepositional")
PAIRS = 160
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
    own = patch_template(model, asked, lambda done: progress(0.45 * done))
    twin = _twin(model, asked, lambda done: progress(0.45 * (1 + done)))
    return measured(model, own, twin, lambda done: progress(0.9 + 0.1 * done))


def measured(
    model: LoadedModel, own: TemplatePatching, twin: tuple[PairRow, ...], progress: ProgressFunction = unwatched
) -> PatchingTest:
    """Build the result from patched pairs; this patches only the paths, in the pairs of half B."""
    subject, asked = own.pairs[0].deciding, own.pairs[0].place
    halves = np.array([each.pair.half for each in own.pairs])
    if len(set(halves.tolist())) < 2:
        raise NotPatchable("In one half of these pairs no two sentences differ enough to be patched.")
    b = [each for each in own.pairs if each.pair.half]
    words = shared_words([each.pair for each in b])
    shares = [carried(each) for each in own.patchings]
    by_direction = {
        direction: _carried([each[direction] for each in shares], halves, words) for direction in DIRECTIONS
    }
    chosen = {direction: choose(each.on_a, subject, asked) for direction, each in by_direction.items()}
    relays = {}
    for number, (direction, layers) in enumerate(chosen.items(), start=1):
        relays[direction] = _relay(model, b, layers.asked.attention, direction, words)
        progress(number / len(chosen))
    estimated = mean([found.estimated_into_corrupt for found, b in zip(own.patchings, halves, strict=True) if b])
    refused = tuple((each.pair, why) for each, why in own.refused)
    return PatchingTest(
        _rows(own, chosen), refused, names_of(own.pairs[0]), subject, asked, by_direction, estimated, relays, twin
    )


def _rows(own: TemplatePatching, chosen: Mapping[str, Chosen]) -> tuple[PairRow, ...]:
    """Return the pairs with the numbers of their claims."""
    at = own.pairs[0].deciding, own.pairs[0].place
    return tuple(
        PairRow(each.pair, found.clean, found.corrupt, compared(found, chosen, *at))
        for each, found in zip(own.pairs, own.patchings, strict=True)
    )


def _carried(shares: Sequence[Maps], halves: Values, words: Sequence[NDArray[np.int64]]) -> Carried:
    """The means over both halves, and the intervals for B by a bootstrap over the ``words`` that its pairs share."""
    every = stacked(shares)
    a, b = (Maps(*(getattr(every, f.name)[halves == half] for f in fields(Maps))) for half in (0, 1))
    ends = [spread(drawn_means(getattr(b, f.name), *words)) for f in fields(Maps)]
    on_a, on_b = (Maps(*(getattr(each, f.name).mean(0) for f in fields(Maps))) for each in (a, b))
    return Carried(on_a, on_b, Maps(*(each[0] for each in ends)), Maps(*(each[1] for each in ends)))


def _relay(
    model: LoadedModel, pairs: Sequence[AskedPair], layer: int, direction: str, words: Sequence[NDArray[np.int64]]
) -> Relay:
    """Measure the relay of the attention of ``layer`` at the asked token, with networks held, over all pairs."""
    each = np.stack([relayed(model, contrast(pair), layer, direction == NEEDED, SMALL) for pair in pairs])
    low, high = spread(drawn_means(each, *words))
    return Relay(layer, each.mean(axis=0), low, high)


def _twin(model: LoadedModel, asked: Sequence[AskedPair], progress: ProgressFunction) -> tuple[PairRow, ...]:
    """Patch the pairs of half B in the untrained twin, with layers chosen on half A; no pairs if one half has none.

    The twin's two runs differ little, so only the half of all pairs with the largest differences is patched.
    """
    twin = untrained_twin(model)
    turned = [AskedPair(p.pair, p.other, p.encoding, p.place, p.deciding, p.good, p.bad) for p in asked]
    gaps = np.abs(differences(twin, asked) - differences(twin, turned))
    found = patch_template(twin, asked, progress, least=max(float(np.median(gaps)), _TINY))
    halves = [each.pair.half for each in found.pairs]
    if not (0 in halves and 1 in halves):
        return ()
    at = asked[0].deciding, asked[0].place
    a = [carried(each) for each, half in zip(found.patchings, halves, strict=True) if half == 0]
    chosen = {direction: choose(mean([each[direction] for each in a]), *at) for direction in DIRECTIONS}
    return tuple(row for row in _rows(found, chosen) if row.pair.half == 1)


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
    return hashlib.sha256(repr((TEMPLATE, PAIRS)).encode()).hexdigest()


MEASUREMENT = Measurement("patching", __name__, PatchingTest, replicate, data_hash, check)
known, result, again = MEASUREMENT.known, MEASUREMENT.result, MEASUREMENT.again
untestable = MEASUREMENT.untestable
