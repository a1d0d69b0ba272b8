"""The result of the experiment on patching: the pairs, the share that each part carries, and the judged claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.intervals import crossed_draws, family_of
from lab.evidence.pairs import MinimalPair, shared_words
from lab.evidence.patching.claims import (
    CLAIMS,
    LATE,
    Chosen,
    PatchClaim,
    choose,
    crossing,
)
from lab.evidence.patching.patches import Maps
from lab.evidence.patching.path import Relay
from lab.evidence.verdicts import Effect, Judged, TwinEffect, judge


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
        The shares that parts carry, by :data:`lab.evidence.patching.claims.DIRECTIONS`.
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
    made: shipped.Provenance | None = None

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
        """The reason why half A makes a claim untestable on this model, in a sentence; "" if it can be tested."""
        if claim.id != LATE or self.crosses(claim.direction, 0) < self.layers:
            return ""
        return (
            f"The lines cross in layer {self.layers}, the last one. After it the asked token has all of it by the way "
            "a transformer is built."
        )


def _beside(own: Values, twins: Values) -> list[TwinEffect]:
    """Return each claim's effect in the twin, from the draws (draws, claims) of both models' effects."""
    found, p = family_of(twins), family_of(own - twins).p
    return [TwinEffect(*each) for each in zip(found.low.tolist(), found.high.tolist(), p.tolist(), strict=True)]


def _differences(numbers: Values) -> Values:
    """Return the effects, (pairs, claims): the difference of each claim's two numbers."""
    return np.asarray(numbers[..., 0] - numbers[..., 1])
