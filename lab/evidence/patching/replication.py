"""Where is what decides kept? The claims of Meng et al. 2022 about facts, tested on the number of a subject.

Minimal pairs of one template ("The boys near the house are old.") are patched part by part
(:mod:`lab.evidence.patching.patches`).
Layers are chosen on half A of the pairs, whose nouns are others than those of half B, on which all is reported.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.named import untrained_twin
from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.intervals import crossed_draws, drawn_means, family_of, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.needed_heads.heads import differences
from lab.evidence.pairs import AskedPair, MinimalPair, can_be_asked, minimal_pairs, shared_words
from lab.evidence.patching.claims import (
    CLAIMS,
    DIRECTIONS,
    LATE,
    NEEDED,
    Chosen,
    PatchClaim,
    carried,
    choose,
    compared,
    crossing,
    early,
    mean,
)
from lab.evidence.patching.patches import SMALL, Maps, NotPatchable, contrast
from lab.evidence.patching.path import Relay, relayed
from lab.evidence.patching.templates import TemplatePatching, patch_template, stacked
from lab.evidence.verdicts import FEW, Effect, Judged, judge
from lab.models.batches import Progress, unwatched
from lab.models.memo import once

if TYPE_CHECKING:
    from pyarrow import Table

    from lab.models.loading import LoadedModel

EXPERIMENT = "patching"
# Tokens stand between what decides and the blank, one of them another noun. In a template without that noun each pair
# is another one turned round, so that what suffices and what is needed are the same numbers.
TEMPLATE = next(each for each in TEMPLATES if each.id == "prepositional")
PAIRS = 160
# What the tokens in its slots are called.
_SLOTS = {"noun": "subject", "preposition": "preposition", "attractor": "other noun", "tail": "last word"}
_TINY = 1e-6  # logits that are nothing but rounding


@dataclass(frozen=True, eq=False)
class PairRow:
    """A pair that was patched: logits of good less bad in both runs, and the numbers of each claim, (claims, 2)."""

    pair: MinimalPair
    clean: float
    corrupt: float
    numbers: Values


@dataclass(frozen=True, eq=False)
class Carried:
    """How much each part carries in one direction: means over half A and half B, and B's 95 % interval."""

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
        The means of the two numbers.
    low, high
        The 95 % interval of their difference, the effect, by a bootstrap over the nouns and verbs that pairs share.
    p
        The probability of a draw at or below 0, corrected by Holm for all claims.
    on_a
        The effect on half A, where layers were chosen.
    twin, twin_count
        The effect in the untrained twin, and in how many pairs of B; None where it could not be patched.
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
        The pairs that were patched, and those whose two runs differ too little, with the reason.
    tokens, subject, asked
        What each token of a pair is called; which of them decides, and at which the model is asked (from 0).
    carried
        By direction, see :data:`lab.evidence.patching.claims.DIRECTIONS`.
    estimated
        What gradients foresee of what suffices, as a mean over half B.
    relays
        By direction, what the chosen attention brings to the asked token with the networks above it held, on half B.
    twin
        The pairs of B in the untrained twin; it is patched where its two runs differ most, in half of all pairs.
    made
        Where a result that ships comes from; None for one that was measured here.
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
        """The pairs of A (0) or B (1)."""
        return [row for row in self.pairs if row.pair.half == half]

    def chosen(self, direction: str) -> Chosen:
        """The layers that were chosen on A."""
        return choose(self.carried[direction].on_a, self.subject, self.asked)

    def crosses(self, direction: str, half: int = 1) -> int:
        """The layer, from 1, in which the means of a half's two lines cross."""
        means = self.carried[direction]
        return crossing((means.on_b if half else means.on_a).residual, self.subject, self.asked)

    @cached_property
    def rows(self) -> tuple[PatchingRow, ...]:
        """The claims in their order; none of them is judged on fewer than :data:`FEW` pairs of B."""
        a, b = (np.stack([row.numbers for row in self.half(half)]) for half in (0, 1))
        effects, on_a = _differences(b), _differences(a).mean(axis=0)
        untrained = _differences(np.stack([row.numbers for row in self.twin])) if self.twin else None
        own, beyond = self._drawn(effects, untrained)
        found = family_of(own)
        p_twin = [None] * len(CLAIMS) if beyond is None else family_of(beyond).p.tolist()
        means = [None] * len(CLAIMS) if untrained is None else untrained.mean(axis=0).tolist()

        def row(at: int, claim: PatchClaim) -> PatchingRow:
            low, high, p = (float(each[at]) for each in (found.low, found.high, found.p))
            effect = Effect(
                float(effects[:, at].mean()), low, high, p, len(b), bound=claim.bound, p_twin=p_twin[at],
                untestable=self._untestable(claim),
            )  # fmt: skip
            first, second = b[:, at].mean(axis=0).tolist()
            return PatchingRow(
                claim, first, second, low, high, p, len(b), float(on_a[at]), means[at], len(self.twin), judge(effect)
            )

        return tuple(row(at, claim) for at, claim in enumerate(CLAIMS))

    def _drawn(self, effects: Values, twin: Values | None) -> tuple[Values, Values | None]:
        """The mean effects in each draw, and how far they are above those of the twin, (draws, claims)."""
        pairs = [row.pair for row in (*self.half(1), *self.twin)]
        weights = np.concatenate(list(crossed_draws(*shared_words(pairs))))
        own, other = np.split(weights, [len(effects)], axis=1)
        with np.errstate(invalid="ignore"):
            drawn = own @ effects / own.sum(axis=1, keepdims=True)
            if twin is None:
                return drawn, None
            return drawn, drawn - other @ twin / other.sum(axis=1, keepdims=True)

    def _untestable(self, claim: PatchClaim) -> str:
        """Why a claim cannot be tested on this model, by half A, in a sentence; "" where it can."""
        if claim.id != LATE or self.crosses(claim.direction, 0) < self.layers:
            return ""
        return (
            f"The lines cross in layer {self.layers}, the last one. After it the asked token has all of it by the way "
            "a transformer is built."
        )


def _differences(numbers: Values) -> Values:
    """The effects, (pairs, claims), of the two numbers of each claim."""
    return np.asarray(numbers[..., 0] - numbers[..., 1])


@once
def untestable(model: LoadedModel) -> str:
    """Why a model cannot be tested, in a sentence; "" where it can."""
    try:
        can_be_asked(model)
        early(model.config.layers)
        asked = minimal_pairs(model, PAIRS, templates=[TEMPLATE])
    except ValueError as reason:
        return str(reason)
    if not asked.half(0) or len(asked.half(1)) < FEW:
        return f"Its vocabulary has too few of the words as one piece: {len(asked.pairs)} pairs can be made of them."
    return ""


def replicate(model: LoadedModel, progress: Progress = unwatched) -> PatchingTest:
    """Run the experiment on ``model`` and its untrained twin: a minute or two for a small model.

    ``progress`` is told the share that is done, from 0 to 1; what it raises ends the run. Raises ValueError for a model
    that :func:`untestable` has a reason against, and NotPatchable where no pair of a half can be patched.
    """
    asked = minimal_pairs(model, PAIRS, templates=[TEMPLATE]).pairs
    own = patch_template(model, asked, lambda done: progress(0.45 * done))
    twin = _twin(model, asked, lambda done: progress(0.45 * (1 + done)))
    return measured(model, own, twin, lambda done: progress(0.9 + 0.1 * done))


def measured(
    model: LoadedModel, own: TemplatePatching, twin: tuple[PairRow, ...], progress: Progress = unwatched
) -> PatchingTest:
    """The result of what was patched; only paths are still to be patched, in the pairs of half B."""
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
    """The pairs with the numbers of their claims."""
    at = own.pairs[0].deciding, own.pairs[0].place
    return tuple(
        PairRow(each.pair, found.clean, found.corrupt, compared(found, chosen, *at))
        for each, found in zip(own.pairs, own.patchings, strict=True)
    )


def _carried(shares: Sequence[Maps], halves: Values, words: Sequence[NDArray[np.int64]]) -> Carried:
    """The means over the halves; the intervals of B by a bootstrap over the ``words`` that its pairs share."""
    every = stacked(shares)
    a, b = (Maps(*(getattr(every, f.name)[halves == half] for f in fields(Maps))) for half in (0, 1))
    ends = [spread(drawn_means(getattr(b, f.name), *words)) for f in fields(Maps)]
    on_a, on_b = (Maps(*(getattr(each, f.name).mean(0) for f in fields(Maps))) for each in (a, b))
    return Carried(on_a, on_b, Maps(*(each[0] for each in ends)), Maps(*(each[1] for each in ends)))


def _relay(
    model: LoadedModel, pairs: Sequence[AskedPair], layer: int, direction: str, words: Sequence[NDArray[np.int64]]
) -> Relay:
    """The attention of ``layer`` at the asked token of every pair, with networks above it held."""
    each = np.stack([relayed(model, contrast(pair), layer, direction == NEEDED, SMALL) for pair in pairs])
    low, high = spread(drawn_means(each, *words))
    return Relay(layer, each.mean(axis=0), low, high)


def _twin(model: LoadedModel, asked: Sequence[AskedPair], progress: Progress) -> tuple[PairRow, ...]:
    """The pairs of half B in the twin, layers chosen on its A; none where one half has none.

    Its runs differ little, so it is patched in that half of all pairs in which they differ most.
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
    """What a token of all pairs is called: by its slot of the template, or by its word. Each word is one token."""
    words = iter(re.findall(r"\w+|\.", TEMPLATE.frame))
    both = zip(asked.encoding.tokens, asked.encoding.special, strict=True)
    names = ((token, None if special else next(words)) for token, special in both)
    return tuple(token if word in (None, "blank") else _SLOTS.get(word, word) for token, word in names)


def data_hash() -> str:
    """Of what decides the pairs, beside the model's vocabulary: the template, its words, and how many."""
    return hashlib.sha256(repr((TEMPLATE, PAIRS)).encode()).hexdigest()


def _from_tables(tables: Mapping[str, Table]) -> PatchingTest:
    from lab.evidence.patching.tables import from_tables  # which needs this module

    return from_tables(tables)


RESULTS = shipped.Results(EXPERIMENT, replicate, _from_tables, data_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
