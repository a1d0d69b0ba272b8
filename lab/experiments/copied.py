"""How does copying work? The claim of Olsson et al. 2022 about induction heads, with random heads as the control.

The heads are chosen on half A of the texts; what their absence costs is measured on half B. The effect of each is the
rise of the loss in the second copy, beyond the mean rise without as many random heads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lab.analysis.heads.values import Values
from lab.experiments import shipped
from lab.experiments.copying import copying
from lab.experiments.intervals import draws, holm, mean_interval, p_above
from lab.experiments.verdicts import Effect, Judged, judge
from lab.models.batches import Progress, unwatched
from lab.models.interventions import Head

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

EXPERIMENT = "copying"
# As many random tokens as the paper repeats. Half of the texts are B, more than a verdict asks for (verdicts.FEW).
# As many draws as lab-gpt2 has other heads: there the control is no sample.
PERIOD, TEXTS, DRAWS = 25, 64, 30
PLAIN, BEST, SOURCE, BOTH, RANDOM = "plain", "best", "source", "both", "random"
# What the claim calls the heads that are away.
AWAY = {BEST: "the best induction head", SOURCE: "the head it depends on", BOTH: "both of them"}
_NUMBERS = ("chosen_on", "induction", "previous", "dependence")


@dataclass(frozen=True, eq=False)
class Run:
    """The texts of B read without some heads.

    Attributes
    ----------
    kind
        ``PLAIN``, ``BEST``, ``SOURCE``, ``BOTH``, or ``RANDOM`` for a control.
    heads
        Which heads are away, from 0.
    second
        (texts,) mean loss of the second copy but for its first token, in nats.
    by_place
        (2 · period − 1,) loss of every token but the first, as a mean over the texts.
    """

    kind: str
    heads: tuple[Head, ...]
    second: Values
    by_place: Values

    @property
    def name(self) -> str:
        """The heads as papers write them, from 1: "1-3 + 4-1"."""
        return " + ".join(f"{layer + 1}-{head + 1}" for layer, head in self.heads)


@dataclass(frozen=True, eq=False)
class Rise:
    """How much the loss of the second copy rises without some heads, in nats, on B.

    ``low`` and ``high`` are the 95 % interval, by a bootstrap over the texts.
    """

    run: Run
    rise: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Row(Rise):
    """The same for heads that the claim is about.

    Attributes
    ----------
    beyond, beyond_low, beyond_high
        The effect: the rise beyond the mean rise without as many random heads, and its 95 % interval.
    p
        How probable a draw is in which the loss does not rise, or no more than without random heads, whichever is more
        probable; corrected by Holm for all rows.
    judged
        The verdict by :data:`lab.experiments.verdicts.SIGN_RULE`.
    """

    beyond: float
    beyond_low: float
    beyond_high: float
    p: float
    judged: Judged


@dataclass(frozen=True, eq=False)
class CopyingTest:
    """The experiment's result.

    Attributes
    ----------
    chosen_on, induction
        (layers, heads) the induction score of every head as a mean over A, and over B.
    previous
        (layers, heads) the previous-token score as a mean over B.
    dependence
        (layers, heads) how much the induction score of the best head falls on A without each earlier head; nan for
        heads of its own and later layers.
    runs
        Without any, without the best head, the one that it depends on, both, and random ones.
    made
        Where a result that ships comes from; None for one that was measured here.
    """

    chosen_on: Values
    induction: Values
    previous: Values
    dependence: Values
    runs: tuple[Run, ...]
    made: shipped.Provenance | None = None

    def run(self, kind: str) -> Run | None:
        """The first run of a kind; None where there is none: a best head of the first layer depends on no other."""
        return next((run for run in self.runs if run.kind == kind), None)

    @property
    def plain(self) -> Run:
        return self.runs[0]

    @property
    def best(self) -> Head:
        return self.rows[0].run.heads[0]

    @property
    def source(self) -> Head | None:
        """The earlier head whose absence costs the best one most of its score."""
        run = self.run(SOURCE)
        return run.heads[0] if run else None

    @property
    def period(self) -> int:
        """How many tokens are said twice."""
        return (len(self.plain.by_place) + 1) // 2

    def random(self, count: int) -> list[Run]:
        """The controls that lack as many heads."""
        return [run for run in self.runs if run.kind == RANDOM and len(run.heads) == count]

    def rise(self, run: Run) -> Rise:
        """What the absence of a run's heads costs."""
        rises = run.second - self.plain.second
        low, high = mean_interval(rises).tolist()
        return Rise(run, float(rises.mean()), low, high)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The chosen heads in the order of the claim, best head first."""
        chosen = [run for run in self.runs if run.kind in (BEST, SOURCE, BOTH)]
        beyond = [run.second - np.mean([each.second for each in self.random(len(run.heads))], axis=0) for run in chosen]
        weights = draws(len(self.plain.second)) / len(self.plain.second)
        p = holm(
            [
                max(float(p_above(weights @ values)) for values in (run.second - self.plain.second, more))
                for run, more in zip(chosen, beyond, strict=True)
            ]
        )
        return tuple(self._row(*each) for each in zip(chosen, beyond, p.tolist(), strict=True))

    def _row(self, run: Run, beyond: Values, p: float) -> Row:
        rise, (low, high) = self.rise(run), mean_interval(beyond).tolist()
        judged = judge(Effect(None, low, high, p, len(beyond), sign_only=True))
        return Row(run, rise.rise, rise.low, rise.high, float(beyond.mean()), low, high, p, judged)

    def controls(self, count: int) -> list[Rise]:
        """What the absence of as many random heads costs, draw by draw."""
        return [self.rise(run) for run in self.random(count)]

    def row(self, kind: str) -> Row | None:
        """The row of a kind that the claim is about; None where there is none."""
        return next((row for row in self.rows if row.run.kind == kind), None)


def untestable(model: LoadedModel) -> str:
    """Why copying cannot be tested on ``model``, in a sentence; "" where it can."""
    if not model.config.causal:
        return (
            f"{model.id} fills blanks and sees the whole text at once. Its second copy can look at any place of the "
            "first, and nothing comes next: there is no copying by induction to measure."
        )
    if model.weights.vocabulary_head is None:
        return f"{model.id} came without a language-modelling head, so it predicts no next token."
    return ""


def replicate(model: LoadedModel, progress: Progress = unwatched) -> CopyingTest:
    """Run the experiment on ``model``; ``progress`` is told the share that is done, and what it raises ends the run.

    A model that cannot hold the texts reads shorter ones. Raises ValueError where :func:`untestable` has a reason.
    """
    if reason := untestable(model):
        raise ValueError(reason)
    found = copying(model, min(PERIOD, model.config.max_tokens // 2), TEXTS, DRAWS, progress=progress)
    best, source = (found.best,), (found.source,) if found.source else ()
    away = {PLAIN: (), BEST: best, SOURCE: source, BOTH: (*source, *best)}
    named = [(kind, away[kind], losses) for kind, losses in found.losses.items()]
    named += [
        (RANDOM, tuple(sorted(heads)), losses)
        for count, drawn in found.drawn.items()
        for heads, losses in zip(drawn, found.controls[count], strict=True)
    ]
    runs = tuple(
        Run(kind, heads, found.second(losses).mean(axis=-1), losses.mean(axis=0)) for kind, heads, losses in named
    )
    a, b = np.split(found.induction, [found.chosen], axis=-1)
    previous = found.previous[..., found.chosen :].mean(axis=-1)
    return CopyingTest(a.mean(axis=-1), b.mean(axis=-1), previous, found.dependence, runs)


def data_hash() -> str:
    """Of what decides the texts, beside the model's vocabulary: how many, how long, and the first draws of a seed."""
    drawn = np.random.default_rng(0).choice(1000, size=PERIOD).tolist()
    return hashlib.sha256(repr((PERIOD, TEXTS, DRAWS, drawn)).encode()).hexdigest()


def as_tables(found: CopyingTest) -> dict[str, pa.Table]:
    """For :mod:`lab.experiments.shipped`: the scores of the heads, and the runs."""
    layers, heads = np.indices(found.induction.shape).reshape(2, -1)
    numbers = {name: getattr(found, name).reshape(-1) for name in _NUMBERS}
    runs = [
        {"kind": run.kind, "heads": [list(head) for head in run.heads], "second": run.second, "by_place": run.by_place}
        for run in found.runs
    ]
    types = {"kind": pa.string(), "heads": pa.list_(pa.list_(pa.int16()))}
    types |= dict.fromkeys(("second", "by_place"), pa.list_(pa.float64()))
    return {
        "heads": pa.table({"layer": layers, "head": heads, **numbers}),
        "runs": pa.Table.from_pylist(runs, pa.schema(types)),
    }


def from_tables(tables: Mapping[str, pa.Table]) -> CopyingTest:
    """What :func:`as_tables` took apart."""
    heads = tables["heads"]
    shape = tuple(int(heads[name].to_numpy().max()) + 1 for name in ("layer", "head"))
    runs = tuple(
        Run(
            run["kind"],
            tuple((layer, head) for layer, head in run["heads"]),
            np.array(run["second"]),
            np.array(run["by_place"]),
        )
        for run in tables["runs"].to_pylist()
    )
    numbers = {name: heads[name].to_numpy().reshape(shape) for name in _NUMBERS}
    return CopyingTest(**numbers, runs=runs, made=shipped.provenance(heads))


RESULTS = shipped.Results(EXPERIMENT, replicate, from_tables, data_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
