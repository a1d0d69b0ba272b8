"""How does copying work? The claim of Olsson et al. 2022 about induction heads, with random heads as the control.

The heads are chosen on half A of the texts. The loss without these heads is measured on half B, by two ablations: the
heads write 0, or they write their mean over the text. The effect of a choice of heads is the rise of the loss in the
second copy, minus the mean rise without equally many random heads, by the ablation that supports the claim less.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.intervals import CLAIM_DRAWS, drawn_means, family_of, mean_interval
from lab.evidence.measurement import Measurement
from lab.evidence.tables import APART
from lab.evidence.verdicts import Effect, Judged, TwinEffect, judge
from lab.experiments.copying.induction import ABLATIONS, ZERO, Copying, Distance, copying, distances
from lab.models.batches import ProgressFunction, unwatched
from lab.models.interventions import Head
from lab.models.twin import untrained_twin

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# The paper repeats 25 random tokens. Half of the texts are B, more than the least number for a verdict (verdicts.FEW).
# lab-gpt2 has 30 other heads, so for this model the control covers all other heads and is not a sample.
PERIOD, TEXTS, DRAWS = 25, 64, 30
# Periods (in tokens) at which the best head is tested: does it look for a token, or for a distance?
PERIODS = (10, 25, 50, 100)
# The smallest rise of the loss that would count, in nats: the right token's probability falls by a tenth.
BOUND = 0.1
PLAIN, BEST, SOURCE, BOTH, RANDOM = "plain", "best", "source", "both", "random"
CHOICES = (BEST, SOURCE, BOTH)


@dataclass(frozen=True, eq=False)
class CopyingRun:
    """Losses on the texts of B without some heads.

    Attributes
    ----------
    kind
        ``PLAIN``, ``BEST``, ``SOURCE``, ``BOTH``, or ``RANDOM`` for a control.
    ablation
        ``ZERO`` or ``MEAN``: the output of the ablated heads.
    heads
        The ablated heads, counted from 0.
    second
        (texts,) mean loss of the second copy without its first token, in nats.
    by_place
        (2 · period − 1,) loss of every token but the first, as a mean over the texts.
    """

    kind: str
    ablation: str
    heads: tuple[Head, ...]
    second: Values
    by_place: Values

    @property
    def name(self) -> str:
        """The heads as papers write them, from 1: "1-3 + 4-1"."""
        return " + ".join(f"{layer + 1}-{head + 1}" for layer, head in self.heads)


@dataclass(frozen=True, eq=False)
class Rise:
    """The rise of the second copy's loss when some heads are ablated, in nats, on half B.

    ``low`` and ``high`` are the 95 % interval, by a bootstrap over the texts.
    """

    run: CopyingRun
    rise: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class CopyingRow:
    """One choice of heads from the claim, and the effect of their ablation on copying.

    Attributes
    ----------
    zero, mean
        The rise when the heads write 0, and when they write their mean.
    decides
        The ablation with the smaller effect, on which the verdict is based.
    random
        The mean rise without equally many random heads.
    twin
        The effect in the untrained twin, whose heads are chosen in the same way; None if the twin has no such head.
    judged
        The verdict by :data:`lab.evidence.reasons.RULE`, and the effect: the rise by the ablation that decides minus
        the mean rise without equally many random heads. Its p is the larger of two: of a draw in which the loss does
        not rise by either ablation, and of a draw in which the effect is not above 0.
    """

    zero: Rise
    mean: Rise
    decides: str
    random: float
    twin: float | None
    judged: Judged

    @property
    def kind(self) -> str:
        return self.zero.run.kind

    @property
    def name(self) -> str:
        """The heads as papers write them, such as "1-3 + 4-1"."""
        return self.zero.run.name

    @property
    def rise(self) -> Rise:
        """The rise of the loss by the ablation that decides."""
        return self.zero if self.decides == ZERO else self.mean


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of one model."""

    runs: tuple[CopyingRun, ...]

    def run(self, kind: str, ablation: str = ZERO) -> CopyingRun | None:
        """Return the first run of a kind; None if there is no such run, as when the best head is in the first layer."""
        return next((run for run in self.runs if (run.kind, run.ablation) == (kind, ablation)), None)

    @property
    def plain(self) -> CopyingRun:
        return self.runs[0]

    def random(self, count: int, ablation: str = ZERO) -> list[CopyingRun]:
        """Return the control runs in which ``count`` random heads are ablated."""
        return [run for run in self.runs if (run.kind, run.ablation, len(run.heads)) == (RANDOM, ablation, count)]

    def rises(self, run: CopyingRun) -> Values:
        """Return how much each text's loss rises when the heads of a run are ablated, (texts,)."""
        return run.second - self.plain.second

    def beyond(self, run: CopyingRun) -> Values:
        """Return each text's rise of the loss minus its mean rise without equally many random heads, (texts,)."""
        others = self.random(len(run.heads), run.ablation)
        return run.second - np.mean([each.second for each in others], axis=0)


@dataclass(frozen=True, eq=False)
class CopyingTest(Runs):
    """The experiment's result.

    Attributes
    ----------
    runs
        The runs with all heads, without the best head, without its source, without both, and without random heads; by
        both ablations.
    induction
        (layers, heads) the induction score of every head as a mean over B.
    previous
        (layers, heads) the previous-token score as a mean over B.
    vocabulary
        The number of tokens that the model chooses from.
    distances
        The control for position: the best head's weight at each distance, with and without a repetition.
    twin
        The runs of the untrained twin, whose heads were chosen in the same way.
    made
        The provenance of a shipped result; None for a result measured on this machine.
    """

    induction: Values
    previous: Values
    vocabulary: int
    distances: tuple[Distance, ...]
    twin: Runs
    made: shipped.Provenance | None = field(default=None, metadata=APART)

    @property
    def best(self) -> Head:
        return self.rows[0].zero.run.heads[0]

    @property
    def source(self) -> Head | None:
        """The earlier head whose absence lowers the best head's score most."""
        run = self.run(SOURCE)
        return run.heads[0] if run else None

    @property
    def period(self) -> int:
        """The number of tokens that are repeated."""
        return (len(self.plain.by_place) + 1) // 2

    @property
    def alike(self) -> float:
        """The loss of a model that gives every token the same probability, and so copies nothing."""
        return log(self.vocabulary)

    def rise(self, run: CopyingRun) -> Rise:
        """Return the mean rise of the loss without a run's heads, with its interval."""
        rises = self.rises(run)
        low, high = mean_interval(rises).tolist()
        return Rise(run, float(rises.mean()), low, high)

    @cached_property
    def rows(self) -> tuple[CopyingRow, ...]:
        """The chosen heads in the order of the claim, best head first."""
        each = [_Taken.of(self, kind) for kind in CHOICES if self.run(kind)]
        columns = [[one.beyond, one.least_rise, one.twin] for one in each]
        drawn = drawn_means(np.array(columns).transpose(2, 1, 0), times=CLAIM_DRAWS)
        beyond, least_rise, untrained = drawn.transpose(1, 0, 2)
        own, raised = family_of(beyond), family_of(least_rise)
        twin, apart = family_of(untrained), family_of(beyond - untrained)

        def row(at: int, one: _Taken) -> CopyingRow:
            low, high, p, below = (float(values[at]) for values in (own.low, own.high, own.p, own.p_below))
            ends = (float(values[at]) for values in (twin.low, twin.high, apart.p, apart.p_below))
            beside = TwinEffect(*ends) if self.twin.run(one.zero.kind) is not None else None
            effect, p = float(one.beyond.mean()), max(p, float(raised.p[at]))
            judged = judge(Effect(effect, low, high, p, below, len(one.beyond), bound=BOUND, twin=beside))
            random = float((one.decides.second - one.beyond - self.plain.second).mean())
            untrained = None if beside is None else float(one.twin.mean())
            zero, mean = (self.rise(run) for run in (one.zero, one.mean))
            return CopyingRow(zero, mean, one.decides.ablation, random, untrained, judged)

        return tuple(row(at, one) for at, one in enumerate(each))

    def controls(self, count: int, ablation: str = ZERO) -> list[Rise]:
        """Return the rise of the loss without ``count`` random heads, one number per draw."""
        return [self.rise(run) for run in self.random(count, ablation)]

    def row(self, kind: str) -> CopyingRow | None:
        """Return the row for one kind of ablated heads; None if there is no such row."""
        return next((row for row in self.rows if row.kind == kind), None)


@dataclass(frozen=True, eq=False)
class _Taken:
    """One choice of heads, text by text: the run of the ablation that decides, its effect, and the twin's effect."""

    zero: CopyingRun
    mean: CopyingRun
    decides: CopyingRun
    beyond: Values
    least_rise: Values
    twin: Values

    @classmethod
    def of(cls, found: CopyingTest, kind: str) -> _Taken:
        both = [run for ablation in ABLATIONS if (run := found.run(kind, ablation))]
        effects, rises = [found.beyond(run) for run in both], [found.rises(run) for run in both]
        at = int(np.argmin([each.mean() for each in effects]))
        untrained = found.twin.run(kind, both[at].ablation)
        twin = np.zeros(len(rises[0])) if untrained is None else found.twin.beyond(untrained)
        least = min(rises, key=lambda each: float(each.mean()))
        return cls(both[0], both[1], both[at], effects[at], least, twin)


def check(model: LoadedModel) -> None:
    """Raise ValueError, with the reason in a sentence, if copying cannot be tested on ``model``."""
    if not model.config.causal:
        raise ValueError(
            f"{model.id} fills blanks and sees the whole text at once. Its second copy can look at any place of the "
            "first, and nothing comes next: there is no copying by induction to measure."
        )
    if model.no_words:
        raise ValueError(model.no_words)


def replicate(model: LoadedModel, progress: ProgressFunction = unwatched) -> CopyingTest:
    """Run the experiment on ``model``; ``progress`` receives the share done, and an exception it raises ends the run.

    A model that cannot hold the texts reads shorter texts. Raises ValueError as :func:`check` does.
    """
    check(model)
    period = min(PERIOD, model.config.max_tokens // 2)
    found = copying(model, period, TEXTS, DRAWS, lambda done: progress(done / 2))
    other = copying(untrained_twin(model), period, TEXTS, DRAWS, lambda done: progress((1 + done) / 2))
    induction, previous = (each[..., found.chosen :].mean(axis=-1) for each in (found.induction, found.previous))
    positions = tuple(distances(model, found.best, PERIODS, range(found.chosen, TEXTS)))
    return CopyingTest(
        _runs(found),
        induction,
        previous,
        model.config.vocabulary,
        positions,
        Runs(_runs(other)),
    )


def _runs(found: Copying) -> tuple[CopyingRun, ...]:
    """Return every run of a model, beginning with the plain run."""
    best, source = (found.best,), (found.source,) if found.source else ()
    away = {PLAIN: (), BEST: best, SOURCE: source, BOTH: (*source, *best)}

    def run(kind: str, ablation: str, heads: Sequence[Head], losses: Values) -> CopyingRun:
        return CopyingRun(kind, ablation, tuple(heads), found.second(losses).mean(axis=-1), losses.mean(axis=0))

    each = []
    for ablation, taken in found.taken.items():
        each += [run(kind, ablation, away[kind], losses) for kind, losses in taken.losses.items()]
        for count, drawn in found.drawn.items():
            both = zip(drawn, taken.controls[count], strict=True)
            each += [run(RANDOM, ablation, sorted(heads), losses) for heads, losses in both]
    return tuple(each)


def data_hash() -> str:
    """Hash of everything but the vocabulary that decides the texts: their number, their length and a seed's draws."""
    drawn = np.random.default_rng(0).choice(1000, size=PERIOD).tolist()
    return hashlib.sha256(repr((PERIOD, TEXTS, DRAWS, PERIODS, drawn)).encode()).hexdigest()


MEASUREMENT = Measurement("copying", __name__, CopyingTest, replicate, data_hash, check, seconds=120)
known, result, again = MEASUREMENT.known, MEASUREMENT.result, MEASUREMENT.again
untestable = MEASUREMENT.untestable
