"""Do heads know grammar? Table 1 of Clark et al. 2019 again, with the choosing apart from the reporting.

The best of many heads is best by luck, too. So the head, its direction, the fixed offset and the untrained twin's
head are chosen on half A of the treebank and measured on half B, which has other documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lab.analysis.heads.named import untrained_twin
from lab.experiments import shipped
from lab.experiments.grammar import Cases, best_offset, find_cases
from lab.experiments.intervals import Interval, draws, holm, p_above, spread, wilson
from lab.experiments.published import CLARK, Published, lift
from lab.experiments.treebank import Sentence, ewt_hash, halves
from lab.experiments.verdicts import Effect, Judged, judge
from lab.models.batches import Progress, unwatched

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# A published lift below this is no effect that could be reproduced.
_NO_EFFECT = 0.05
EXPERIMENT = "grammar"
_COLUMNS = ("sentence", "dependent", "head", "named")
Place = tuple[int, int, int]  # layer, head, end


@dataclass(frozen=True)
class Row:
    """One relation: the head that was chosen on half A, and what it does on half B.

    Attributes
    ----------
    relation
        In Universal Dependencies.
    layer, head, end
        The head, from 0; ``end`` is 0 where it goes from the dependent to its head, 1 where it goes back.
    on_a, count_a
        The share that it names right on A, and of how many cases.
    right, count
        How many of the cases of B it names right.
    offset, offset_right
        The best fixed offset of A (head − dependent, in words), and how many cases of B it names right.
    twin_right
        The same of the untrained twin's best head of A, of as many heads.
    reach
        The share of B that a head of this model can name at all: 1, or less where it cannot look ahead.
    low, high
        The 95 % interval of the lift, by a bootstrap over the sentences of B.
    p
        How probable a draw is in which the head is not above the offset, or not above the twin, whichever is more
        probable; corrected by Holm for all relations.
    """

    relation: str
    layer: int
    head: int
    end: int
    on_a: float
    count_a: int
    right: int
    count: int
    offset: int
    offset_right: int
    twin_right: int
    reach: float
    low: float
    high: float
    p: float

    @property
    def name(self) -> str:
        """The head as papers write it, from 1: "3-1" is head 1 of layer 3."""
        return f"{self.layer + 1}-{self.head + 1}"

    @property
    def accuracy(self) -> float:
        return self.right / self.count

    @property
    def interval(self) -> Interval:
        """Wilson's, of the accuracy."""
        return wilson(self.right, self.count)

    @property
    def offset_accuracy(self) -> float:
        return self.offset_right / self.count

    @property
    def twin(self) -> float:
        return self.twin_right / self.count

    @property
    def lift(self) -> float:
        """(accuracy − offset) / (1 − offset): what the head adds to knowing places."""
        return lift(self.accuracy, self.offset_accuracy)

    @property
    def selection_bias(self) -> float:
        """What choosing on A flatters: accuracy on A − accuracy on B."""
        return self.on_a - self.accuracy

    @property
    def published(self) -> Published:
        return next(each for each in CLARK if each.relation == self.relation)

    @property
    def judged(self) -> Judged:
        """The verdict by :data:`lab.experiments.verdicts.RULE`; the effect is the lift."""
        return judge(
            Effect(self.published.lift, self.low, self.high, self.p, self.count, _untestable(self, self.published))
        )


def _untestable(row: Row, published: Published) -> str:
    if published.lift < _NO_EFFECT:
        return (
            f"In the paper itself the best head is hardly above the best fixed distance "
            f"({published.accuracy:.1%} against {published.offset:.1%}): there is no effect to reproduce."
        )
    if row.reach <= row.offset_accuracy:
        return (
            f"A head of this model looks back only, so it can name at most {row.reach:.1%}. The best fixed distance, "
            f"which may look ahead, names {row.offset_accuracy:.1%}."
        )
    return ""


@dataclass(frozen=True, eq=False)
class GrammarTest:
    """The experiment's result: its rows in the order of the published table, and every case of half B.

    ``cases`` has for each relation an array (count, 4): the sentence of B, the dependent, its head and the word that
    the chosen head names, all from 0; −1 where it names none. ``made`` says where a result that ships comes from; None
    for one that was measured here.
    """

    rows: tuple[Row, ...]
    cases: Mapping[str, NDArray[np.int64]]
    made: shipped.Provenance | None = None


@cache
def fixed_offsets() -> Mapping[str, tuple[int, float]]:
    """For each relation the best fixed offset of half A, and its share of half B: what takes no model to find."""
    a, b = ([arc for sentence in half for arc in _arcs(sentence)] for half in halves())
    found = {}
    for relation in (published.relation for published in CLARK):
        offset, _ = best_offset([distance for name, distance in a if name == relation])
        on_b = [distance == offset for name, distance in b if name == relation]
        found[relation] = (offset, sum(on_b) / len(on_b))
    return found


def _arcs(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """(relation, head − dependent) of every word but the root."""
    for dependent, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if head:
            yield relation, head - 1 - dependent


def replicate(model: LoadedModel, progress: Progress = unwatched) -> GrammarTest:
    """Run the experiment on ``model``: half a minute for a small model, for both halves and the untrained twin.

    ``progress`` is told how much is done, from 0 to 1; what it raises ends the run.
    """
    a, b = halves()
    own = find_cases(model, a + b, progress=lambda done: progress(done / 2))
    twin = find_cases(untrained_twin(model), a + b, progress=lambda done: progress((1 + done) / 2))
    return compared(own, twin, (len(a), len(b)))


def as_tables(found: GrammarTest) -> dict[str, pa.Table]:
    """For :mod:`lab.experiments.shipped`: the rows, and every case of half B."""
    cases = {
        # Of sentences there may be more than 16 bits can count.
        name: pa.array(np.concatenate([each[:, at] for each in found.cases.values()]).astype(kind))
        for at, (name, kind) in enumerate(zip(_COLUMNS, (np.int32, np.int16, np.int16, np.int16), strict=True))
    }
    names = [name for name, each in found.cases.items() for _ in each]
    return {
        "rows": pa.Table.from_pylist([asdict(row) for row in found.rows]),
        "cases": pa.table({"relation": pa.array(names).dictionary_encode(), **cases}),
    }


def from_tables(tables: Mapping[str, pa.Table]) -> GrammarTest:
    """What :func:`as_tables` took apart."""
    rows = tuple(Row(**row) for row in tables["rows"].to_pylist())
    names = np.array(tables["cases"]["relation"].to_pylist())
    cases = np.stack([tables["cases"][name].to_numpy() for name in _COLUMNS], axis=-1).astype(np.int64)
    by_relation = {row.relation: cases[names == row.relation] for row in rows}
    return GrammarTest(rows, by_relation, shipped.provenance(tables["rows"]))


class CasesOf(Protocol):
    """:class:`lab.experiments.grammar.Cases`, or whatever else finds those of a relation."""

    def of(self, relation: str) -> Cases: ...


def compared(own: CasesOf, twin: CasesOf, sentences: tuple[int, int]) -> GrammarTest:
    """The result of what a model and its twin named in so many sentences of A, then of B.

    A relation without a case in either half is left out.
    """
    weights, rows, cases = draws(sentences[1]), [], {}
    for published in CLARK:
        relation = published.relation
        halved = [_halves(each.of(relation), sentences[0]) for each in (own, twin)]
        if all(len(half.sentence) for half in halved[0]):
            row, cases[relation] = _row(relation, halved[0], halved[1], weights)
            rows.append(row)
    corrected = holm([row.p for row in rows])
    return GrammarTest(tuple(replace(row, p=float(p)) for row, p in zip(rows, corrected, strict=True)), cases)


def _halves(cases: Cases, first: int) -> tuple[Cases, Cases]:
    """Those of the ``first`` sentences, and those of the rest, whose sentences then count from 0."""
    a, b = cases.where(cases.sentence < first), cases.where(cases.sentence >= first)
    return a, replace(b, sentence=b.sentence - first)


def _row(
    relation: str, own: tuple[Cases, Cases], twin: tuple[Cases, Cases], weights: NDArray[np.float64]
) -> tuple[Row, NDArray[np.int64]]:
    """A relation's row, its p not corrected yet, and the cases of B as :class:`GrammarTest` has them."""
    (a, b), (place, on_a), (twin_place, _) = own, _best(own[0]), _best(twin[0])
    offset, _ = best_offset(a.distance.tolist())
    # Whether each case of B is named right: by the head, by the offset, by the twin; and that it is a case.
    named = [b.right[:, *place], b.distance == offset, twin[1].right[:, *twin_place], np.ones(len(b.sentence))]
    drawn = [weights @ np.bincount(b.sentence, each, minlength=weights.shape[1]) for each in named]
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracy, baseline, untrained = (each / drawn[-1] for each in drawn[:-1])
        lifts = (accuracy - baseline) / (1 - baseline)
    low, high = spread(lifts[np.isfinite(lifts)]) if np.isfinite(lifts).any() else (float("nan"),) * 2
    p = max(float(p_above(accuracy - other)) for other in (baseline, untrained))
    right, offset_right, twin_right, count = (int(each.sum()) for each in named)
    row = Row(
        relation, *place, on_a, len(a.sentence), right, count, offset, offset_right, twin_right, _reach(b),
        float(low), float(high), p,
    )  # fmt: skip
    return row, np.stack([b.sentence, b.dependent, b.head, b.named[:, *place].astype(np.int64)], axis=-1)


def _best(cases: Cases) -> tuple[Place, float]:
    """The head and the direction that name most of the cases right, the first of equals, and which share."""
    accuracy = cases.right.mean(0)
    layer, head, end = (int(at) for at in np.unravel_index(int(accuracy.argmax()), accuracy.shape))
    return (layer, head, end), float(accuracy[layer, head, end])


def _reach(cases: Cases) -> float:
    """The share that can be named from the better end: the whole, unless heads look back only."""
    if not cases.causal:
        return 1.0
    return float(max((cases.distance < 0).mean(), (cases.distance > 0).mean()))


RESULTS = shipped.Results(EXPERIMENT, replicate, from_tables, ewt_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
