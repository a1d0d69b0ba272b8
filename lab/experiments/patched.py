"""Where is what decides kept? The claims of Meng et al. 2022 about facts, tested on the number of a subject.

Minimal pairs of one template ("The boys near the house are old.") are patched part by part
(:mod:`lab.experiments.patching`).
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

from lab.analysis.heads.named import untrained_twin
from lab.analysis.heads.values import Values
from lab.experiments import shipped
from lab.experiments.intervals import draws, holm, mean_interval, p_above
from lab.experiments.lexicon import TEMPLATES
from lab.experiments.needed.heads import differences
from lab.experiments.pairs import AskedPair, MinimalPair, can_be_asked, minimal_pairs
from lab.experiments.patching import Maps, NotPatchable
from lab.experiments.patching_claims import (
    CLAIMS,
    DIRECTIONS,
    Chosen,
    Claim,
    carried,
    choose,
    compared,
    early_and_late,
    mean,
)
from lab.experiments.patching_templates import TemplatePatching, patch_template, stacked
from lab.experiments.verdicts import FEW, Effect, Judged, judge
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
class Row:
    """A claim on half B.

    Attributes
    ----------
    first, second
        The means of the two numbers.
    low, high
        The 95 % interval of their difference, the effect, by a bootstrap over the pairs.
    p
        How probable a draw at or below 0 is, corrected by Holm for all claims.
    on_a
        The effect on half A, where layers were chosen.
    twin
        The effect in the untrained twin; None where it could not be patched.
    """

    claim: Claim
    first: float
    second: float
    low: float
    high: float
    p: float
    count: int
    on_a: float
    twin: float | None
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
        By direction, see :data:`lab.experiments.patching_claims.DIRECTIONS`.
    estimated
        What gradients foresee of what suffices, as a mean over half B.
    twin
        (pairs, claims, 2) the numbers of the untrained twin on its half B; it is patched where its two runs differ
        most, in half of the pairs.
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
    twin: Values
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

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The claims in their order; none of them is judged on fewer than :data:`FEW` pairs of B."""
        a, b = (np.stack([row.numbers for row in self.half(half)]) for half in (0, 1))
        effects, weights = b[..., 0] - b[..., 1], draws(len(b)) / len(b)
        p, (low, high) = holm(p_above(weights @ effects)).tolist(), mean_interval(effects).tolist()
        on_a, twin = (a[..., 0] - a[..., 1]).mean(0).tolist(), self.twin[..., 0] - self.twin[..., 1]
        return tuple(
            Row(
                claim, float(b[:, at, 0].mean()), float(b[:, at, 1].mean()), low[at], high[at], p[at], len(b), on_a[at],
                float(twin[:, at].mean()) if len(twin) else None,
                judge(Effect(None, low[at], high[at], p[at], len(b), sign_only=True)),
            )
            for at, claim in enumerate(CLAIMS)
        )  # fmt: skip


@once
def untestable(model: LoadedModel) -> str:
    """Why a model cannot be tested, in a sentence; "" where it can."""
    try:
        can_be_asked(model)
        early_and_late(model.config.layers)
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
    own = patch_template(model, asked, lambda done: progress(done / 2))
    return measured(own, asked[0].deciding, asked[0].place, _twin(model, asked, lambda done: progress((1 + done) / 2)))


def measured(own: TemplatePatching, subject: int, asked: int, twin: Values) -> PatchingTest:
    """The result of what was patched."""
    halves = np.array([each.pair.half for each in own.pairs])
    if len(set(halves.tolist())) < 2:
        raise NotPatchable("In one half of these pairs no two sentences differ enough to be patched.")
    shares = [carried(each) for each in own.patchings]
    by_direction = {direction: _carried([each[direction] for each in shares], halves) for direction in DIRECTIONS}
    chosen = {direction: choose(each.on_a, subject, asked) for direction, each in by_direction.items()}
    pairs = tuple(
        PairRow(each.pair, found.clean, found.corrupt, compared(found, chosen, subject, asked))
        for each, found in zip(own.pairs, own.patchings, strict=True)
    )
    estimated = mean([found.estimated_into_corrupt for found, b in zip(own.patchings, halves, strict=True) if b])
    refused = tuple((each.pair, why) for each, why in own.refused)
    return PatchingTest(pairs, refused, names_of(own.pairs[0]), subject, asked, by_direction, estimated, twin)


def _carried(shares: Sequence[Maps], halves: Values) -> Carried:
    every = stacked(shares)
    a, b = (Maps(*(getattr(every, f.name)[halves == half] for f in fields(Maps))) for half in (0, 1))
    ends = [mean_interval(getattr(b, f.name)) for f in fields(Maps)]
    on_a, on_b = (Maps(*(getattr(each, f.name).mean(0) for f in fields(Maps))) for each in (a, b))
    return Carried(on_a, on_b, Maps(*(each[0] for each in ends)), Maps(*(each[1] for each in ends)))


def _twin(model: LoadedModel, asked: Sequence[AskedPair], progress: Progress) -> Values:
    """The claims' numbers of the twin on its half B, layers chosen on its A. Its runs differ little, so it is patched
    in that half of the pairs in which they differ most."""
    twin = untrained_twin(model)
    turned = [AskedPair(p.pair, p.other, p.encoding, p.place, p.deciding, p.good, p.bad) for p in asked]
    gaps = np.abs(differences(twin, asked) - differences(twin, turned))
    found = patch_template(twin, asked, progress, least=max(float(np.median(gaps)), _TINY))
    halves = [each.pair.half for each in found.pairs]
    if not (0 in halves and 1 in halves):
        return np.empty((0, len(CLAIMS), 2))
    at = asked[0].deciding, asked[0].place
    a = [carried(each) for each, half in zip(found.patchings, halves, strict=True) if half == 0]
    chosen = {direction: choose(mean([each[direction] for each in a]), *at) for direction in DIRECTIONS}
    b = [each for each, half in zip(found.patchings, halves, strict=True) if half == 1]
    return np.stack([compared(each, chosen, *at) for each in b])


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
    from lab.experiments.patching_tables import from_tables  # which needs this module

    return from_tables(tables)


RESULTS = shipped.Results(EXPERIMENT, replicate, _from_tables, data_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
