"""Test the claims of Michel et al. 2019 and Voita et al. 2019 about single heads; each gets an effect and a verdict.

Michel et al. measure the BLEU of a translator and the accuracy of a classifier. Here the measure is the accuracy in
minimal pairs: the share of pairs in which the good form has the higher logit. *For free* means that clearly less than
:data:`MARGIN` of accuracy is lost, a tenth of the way from guessing to always right. A head is ablated in two ways, by
0 and by its mean over the sentence, and a verdict uses the way that supports the claim less. Every bootstrap is over
the nouns and the verbs that pairs share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.evidence.intervals import CLAIM_DRAWS, DRAWS, drawn_means, holm, no_event, p_above, spread
from lab.evidence.verdicts import ALPHA, Effect, Judged, TwinEffect, judge
from lab.experiments.needed_heads.ablations import ABLATED, ZERO, Sample, gains
from lab.models.interventions import Head

MARGIN = 0.05
EACH, NEEDED, HURTS, ONE, FIFTH, PRUNED = "each", "needed", "hurts", "one", "fifth", "pruned"
# The orders in which heads are ablated together.
IMPORTANCE, GREEDY = "importance", "greedy"
# The reasons why a claim cannot be tested: the model only guesses, or the paper trains again and we do not.
GUESSES, RETRAINED = "guesses", "retrained"
# The smallest effect that would count, for claims without a published number on this scale. For a share of heads or
# layers, the bound is 0.1 above one half. For lost accuracy, the bound is the margin. For gained accuracy, the bound is
# one pair in a hundred (the paper's gain is 0.7 % of the score). A fifth of the heads has no bound, because its effect
# is already measured from the margin: any loss that is clearly smaller counts.
BOUNDS = {EACH: 0.1, NEEDED: MARGIN, HURTS: 0.01, ONE: 0.1}
# Bootstrap draws per head, enough that the number of draws does not limit how small the p of a family can be.
_DRAWS_A_HEAD = 200


@dataclass(frozen=True)
class MeasuredWay:
    """The measurements of a claim under one kind of ablation.

    Attributes
    ----------
    ours, low, high
        A share, or a difference of accuracies. For a difference, ``low`` and ``high`` are its 95 % interval. For a
        share of heads or layers, they are bounds: ``low`` is the share that clearly costs less than :data:`MARGIN`,
        and ``high`` is the share that does not clearly cost more.
    effect, effect_low, effect_high
        The claim's effect, computed from ``ours``, ``low`` and ``high``; it is above 0 if the claim holds.
    p, p_below
        The probability of a draw against the claim, and of a draw that does not speak against it.
    """

    ours: float
    low: float
    high: float
    effect: float
    effect_low: float
    effect_high: float
    p: float
    p_below: float


@dataclass(frozen=True, eq=False)
class TestedClaim:
    """A claim and its test.

    Attributes
    ----------
    id
        :data:`EACH` to :data:`PRUNED`.
    units
        The number of heads, layers or heads removed together that the measured quantity is about.
    zero, mean
        The measurements with heads that write 0, and with heads that write their mean over the sentence.
    twin
        The quantity in the untrained twin with heads that write 0; nan if the twin is not compared.
    count
        The number of different sentences that were measured.
    p, p_below
        The probability of a draw against the claim, and of one that does not speak against it: the larger one of the
        two ablations each, corrected by Holm for all claims.
    beside_twin
        The effect in the twin by the ablation that decides; None if the twin is not compared.
    untestable
        :data:`GUESSES`, :data:`RETRAINED`, or "" if the claim can be tested.
    right
        The share of the pairs in which the model is right with all heads.
    heads
        The chosen heads, layer and head from 0.
    """

    id: str
    units: int
    zero: MeasuredWay
    mean: MeasuredWay
    twin: float
    count: int
    p: float
    p_below: float
    beside_twin: TwinEffect | None = None
    untestable: str = ""
    right: float = float("nan")
    heads: tuple[Head, ...] = ()

    @property
    def decides(self) -> MeasuredWay:
        """The ablation with the smaller effect, on which the verdict is based."""
        return self.mean if self.mean.effect < self.zero.effect else self.zero

    @property
    def bounded(self) -> bool:
        """True if ``low`` and ``high`` are bounds, not the ends of an interval."""
        return self.id in (EACH, ONE)

    @property
    def judged(self) -> Judged:
        """The verdict by :data:`lab.evidence.reasons.RULE`."""
        own = self.decides
        return judge(
            Effect(
                own.effect,
                own.effect_low,
                own.effect_high,
                self.p,
                self.p_below,
                self.count,
                bound=BOUNDS.get(self.id, 0.0),
                twin=self.beside_twin,
                untestable=self.untestable,
            )
        )


def draws_for(heads: int) -> int:
    """The number of draws with which the p of one of ``heads`` heads can be below 0.05 after Holm, for five claims."""
    return max(DRAWS, _DRAWS_A_HEAD * heads)


def name_of(head: Head) -> str:
    """Return a head as papers write it, from 1: "3-1" is head 1 of layer 3."""
    return f"{head[0] + 1}-{head[1] + 1}"


class Judgeable(Protocol):
    """The attributes used to judge claims; :class:`lab.experiments.needed_heads.measure.NeededTest` documents them."""

    @property
    def sample(self) -> Sample: ...
    @property
    def b(self) -> NDArray[np.bool_]: ...
    @property
    def plain(self) -> Values: ...
    @property
    def kept(self) -> tuple[Head, ...]: ...
    @property
    def alone(self) -> Values: ...
    @property
    def alone_to_mean(self) -> Values: ...
    @property
    def away(self) -> NDArray[np.int64]: ...
    @property
    def fifth(self) -> int: ...
    @property
    def orders(self) -> Mapping[str, tuple[Head, ...]]: ...
    @property
    def curves(self) -> Mapping[str, Values]: ...
    @property
    def fifth_to_mean(self) -> Values: ...


def claims(found: Judgeable) -> tuple[TestedClaim, ...]:
    """Test every claim on a result, from :data:`EACH` to :data:`PRUNED`."""
    sample = found.sample
    rows = _tested(sample, [each(sample), needed(sample), _hurts(sample), _one(found), _fifth(found)])
    nothing = float("nan")
    unknown = MeasuredWay(*[nothing] * 8)
    count = sample.different(found.b)
    pruned = TestedClaim(PRUNED, 0, unknown, unknown, nothing, count, nothing, nothing, untestable=RETRAINED)
    return (*rows, pruned)


def claims_in(sample: Sample) -> tuple[TestedClaim, ...]:
    """Test the claims about single heads on some pairs, such as one template.

    A mean over all pairs may hide a template's effects.
    """
    return _tested(sample, [each(sample), needed(sample)])


def _tested(sample: Sample, rows: Sequence[TestedClaim]) -> tuple[TestedClaim, ...]:
    """Return the rows with p-values corrected for the number of rows, and with the reason if nothing can be tested."""
    reason, right = "" if sample.beyond_guessing else GUESSES, float(sample.right.mean())
    compared = {row.id: row.beside_twin for row in rows if row.beside_twin is not None}
    p, p_below = (holm([getattr(row, name) for row in rows]).tolist() for name in ("p", "p_below"))
    twins, twins_below = (
        holm([getattr(twin, name) for twin in compared.values()]).tolist() for name in ("p", "p_below")
    )
    beside = {id: replace(twin, p=twins[at], p_below=twins_below[at]) for at, (id, twin) in enumerate(compared.items())}
    return tuple(
        replace(row, p=p[at], p_below=p_below[at], beside_twin=beside.get(row.id), untestable=reason, right=right)
        for at, row in enumerate(rows)
    )


def each(sample: Sample) -> TestedClaim:
    """Test whether most heads can be ablated for free. Nothing is chosen for this claim, so both halves are used."""
    found = [
        _for_free(sample.without(ablation).reshape(-1, len(sample.plain)).T, sample.shared) for ablation in ABLATED
    ]
    heads = int(np.prod(sample.changed[ZERO].shape[:2]))
    untrained = float((-sample.twin_without(ZERO).mean(axis=-1) < MARGIN).mean())
    return _row(EACH, heads, found, sample.different(), twin=untrained)


def _one(found: Judgeable) -> TestedClaim:
    """Test whether one head per layer is enough: the best single head of each layer on A, alone in its layer on B."""
    sample, plain = found.sample, found.plain[found.b]
    shared = sample.shared_in(found.b)
    both = [_for_free(gains(alone, plain).T, shared) for alone in (found.alone, found.alone_to_mean)]
    return replace(_row(ONE, len(found.kept), both, sample.different(found.b)), heads=found.kept)


def _for_free(each: Values, shared: Sequence[NDArray[np.int64]]) -> MeasuredWay:
    """Return the share of removals (units, k) that cost less than the margin, its bounds, and the p of "most".

    After Holm, all removals with p-values below α are cheap at once (with 95 % confidence). So the median p-value is
    the p of the claim that more than half of the removals cost clearly less. The effect is the share minus one half.
    """
    drawn = drawn_means(each, *shared, times=draws_for(each.shape[1]))
    # Without an event in any pair, a bootstrap has no spread: that chance is (1 - margin) ^ pairs at the margin itself.
    unseen = np.where((each == 0).all(axis=0), (1 - MARGIN) ** len(each), 0.0)
    cheap, dear = holm(np.maximum(p_above(drawn, -MARGIN), unseen)), holm(p_above(-drawn, MARGIN))
    share = float((-each.mean(axis=0) < MARGIN).mean())
    low, high = float((cheap < ALPHA).mean()), float(1 - (dear < ALPHA).mean())
    half = each.shape[1] // 2
    middles = (float(np.sort(p)[half]) for p in (cheap, dear))
    return MeasuredWay(share, low, high, share - 0.5, low - 0.5, high - 0.5, *middles)


def needed(sample: Sample) -> TestedClaim:
    """Find the head whose absence lowers the logit difference most on A, and measure the accuracy lost on B."""
    head, untrained = (
        _lowest((changed[ZERO] - plain)[..., ~sample.b].mean(axis=-1))
        for changed, plain in ((sample.changed, sample.plain), (sample.twin_changed, sample.twin_plain))
    )
    return _of_head(sample, NEEDED, (head, untrained), -1)


def _hurts(sample: Sample) -> TestedClaim:
    """Find the head whose absence raises the accuracy most on A, and measure the accuracy gained on B.

    In a tie, choose the head whose absence raises the logit difference most.
    """
    head, untrained = (
        _most_helpful(gained[..., ~sample.b].mean(-1), (changed[ZERO] - plain)[..., ~sample.b].mean(-1))
        for gained, changed, plain in (
            (sample.without(ZERO), sample.changed, sample.plain),
            (sample.twin_without(ZERO), sample.twin_changed, sample.twin_plain),
        )
    )
    return _of_head(sample, HURTS, (head, untrained), 1)


def _most_helpful(gained: Values, delta: Values) -> Head:
    return _lowest(np.where(gained == gained.max(), -delta, np.inf))


def _of_head(sample: Sample, claim: str, heads: tuple[Head, Head], sign: int) -> TestedClaim:
    """Return a claim about one head, compared with the untrained twin's head that was chosen in the same way."""
    (head, untrained), b = heads, sample.b
    own, twin, found = {}, {}, []
    for ablation in ABLATED:
        own[ablation] = sign * sample.without(ablation)[head][b]
        twin[ablation] = sign * sample.twin_without(ablation)[untrained][b]
        drawn = drawn_means(own[ablation], *sample.shared_in(b), times=CLAIM_DRAWS)
        ends = _ends(own[ablation], drawn)
        effect = (float(own[ablation].mean()), *ends)
        found.append(MeasuredWay(*effect, *effect, float(p_above(drawn)), float(p_above(-drawn))))
    weaker = min(ABLATED, key=lambda ablation: float(own[ablation].mean()))
    beyond, twins = (
        drawn_means(each, *sample.shared_in(b), times=CLAIM_DRAWS)
        for each in (own[weaker] - twin[weaker], twin[weaker])
    )
    beside = TwinEffect(*_ends(twin[weaker], twins), float(p_above(beyond)), float(p_above(-beyond)))
    row = _row(claim, 1, found, sample.different(b), twin=float(twin[ZERO].mean()), beside=beside)
    return replace(row, heads=(head,))


def _fifth(found: Judgeable) -> TestedClaim:
    """Ablate the fifth of the heads with the lowest I_h on A together, and measure the accuracy lost on B."""
    at, sample, both = found.fifth, found.sample, []
    for changed in (found.curves[IMPORTANCE][at], found.fifth_to_mean):
        lost = -gains(changed, found.plain[found.b])
        drawn = drawn_means(lost, *sample.shared_in(found.b), times=CLAIM_DRAWS)
        cost, (low, high) = float(lost.mean()), _ends(lost, drawn)
        p, p_below = float(p_above(-drawn, -MARGIN)), float(p_above(drawn, MARGIN))
        if not lost.any():
            p = (1 - MARGIN) ** len(lost)
        # The effect is the margin minus the accuracy lost.
        both.append(MeasuredWay(cost, low, high, MARGIN - cost, MARGIN - high, MARGIN - low, p, p_below))
    count = int(found.away[at])
    row = _row(FIFTH, count, both, sample.different(found.b))
    return replace(row, heads=found.orders[IMPORTANCE][:count])


def _row(
    claim: str,
    units: int,
    both: Sequence[MeasuredWay],
    count: int,
    twin: float = float("nan"),
    beside: TwinEffect | None = None,
) -> TestedClaim:
    """Return a row without chosen heads."""
    zero, mean = both
    p, p_below = max(zero.p, mean.p), max(zero.p_below, mean.p_below)
    return TestedClaim(claim, units, zero, mean, twin, count, p, p_below, beside)


def _ends(values: Values, drawn: Values) -> tuple[float, float]:
    """Return the interval of the mean of ``values`` (pairs,) from its draws; by the rule of three without an event."""
    if not values.any():
        return -no_event(len(values)), no_event(len(values))
    low, high = spread(drawn).tolist()
    return low, high


def _lowest(scores: Values) -> Head:
    layer, head = np.unravel_index(int(scores.argmin()), scores.shape)
    return int(layer), int(head)
