"""Do heads know grammar? Table 1 of Clark et al. 2019, replicated with heads that are chosen and measured on different
sentences.

The best of many heads is the best partly by luck. So the head, its direction, the fixed offset and the twin's head are
chosen on half A of EWT. All are measured on half B, which has other documents, and once more on GUM, on which nothing
was ever chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lab.analysis.heads.named import untrained_twin
from lab.evidence import shipped
from lab.evidence.grammar.accuracy import Cases, best_offset, find_cases
from lab.evidence.grammar.relation_row import RelationRow
from lab.evidence.grammar.word_kinds import KindRule, Tags, best_rule, tags_of
from lab.evidence.intervals import crossed_draws, holm, p_above, spread
from lab.evidence.published import CLARK
from lab.evidence.treebank import EWT, GUM, Sentence, file_hash, gum, halves
from lab.models.batches import Progress, unwatched
from lab.text.tags.pipeline import tagger_files

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

EXPERIMENT = "grammar"
_COLUMNS = ("sentence", "dependent", "head", "named")
Place = tuple[int, int, int]  # layer, head, end
HELD_OUT, GUM_TOO = "half B of EWT", "GUM"


@dataclass(frozen=True, eq=False)
class GrammarTest:
    """The experiment's result, with rows in the order of the published table.

    Attributes
    ----------
    rows
        The relations on half B of EWT, or of another treebank.
    elsewhere
        The results of the same heads on GUM, in the same order; empty for another treebank.
    cases
        For each relation an array (count, 4) with every case of half B: the sentence of B, the dependent, its head and
        the word that the chosen attention head names, all from 0; −1 if it names no word.
    made
        The provenance of a shipped result; None for a result measured on this machine.
    """

    rows: tuple[RelationRow, ...]
    elsewhere: tuple[RelationRow, ...]
    cases: Mapping[str, NDArray[np.int64]]
    made: shipped.Provenance | None = None


@cache
def fixed_offsets() -> Mapping[str, tuple[int, float]]:
    """Return, for each relation, the best fixed offset on half A and its share of right cases on half B."""
    a, b = ([arc for sentence in half.sentences for arc in _arcs(sentence)] for half in halves())
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
    """Run the experiment on ``model`` and its untrained twin, on both treebanks; a small model takes a minute.

    ``progress`` receives the share done, 0 to 1; an exception it raises ends the run.
    """
    (a, b), other = halves(), gum()
    parts = [(a.sentences + b.sentences, 0), (other.sentences, 2)]
    models = model, untrained_twin(model)

    def read(sentences: tuple[Sentence, ...], done: int) -> Named:
        own, twin = (
            find_cases(each, sentences, progress=_share(progress, done + at, 4)) for at, each in enumerate(models)
        )
        return Named(own, twin, tags_of(sentences))

    named, there = (read(*part) for part in parts)
    return compared(named, len(a.sentences), b.documents, (there, other.documents))


def _share(progress: Progress, done: int, of: int) -> Progress:
    return lambda share: progress((done + share) / of)


def as_tables(found: GrammarTest) -> dict[str, pa.Table]:
    """Return the tables for :mod:`lab.evidence.shipped`: the rows, and every case of half B."""
    cases = {
        # A treebank may have more sentences than 16 bits can count.
        name: pa.array(np.concatenate([each[:, at] for each in found.cases.values()]).astype(kind))
        for at, (name, kind) in enumerate(zip(_COLUMNS, (np.int32, np.int16, np.int16, np.int16), strict=True))
    }
    names = [name for name, each in found.cases.items() for _ in each]
    return {
        "rows": pa.Table.from_pylist([asdict(row) | {"of": of} for of, rows in _parts(found) for row in rows]),
        "cases": pa.table({"relation": pa.array(names).dictionary_encode(), **cases}),
    }


def from_tables(tables: Mapping[str, pa.Table]) -> GrammarTest:
    """Rebuild the result from the tables of :func:`as_tables`."""
    lines, fields = tables["rows"].to_pylist(), RelationRow.__dataclass_fields__
    rows, elsewhere = (
        tuple(RelationRow(**{name: line[name] for name in fields}) for line in lines if line["of"] == of)
        for of in (HELD_OUT, GUM_TOO)
    )
    names = np.array(tables["cases"]["relation"].to_pylist())
    cases = np.stack([tables["cases"][name].to_numpy() for name in _COLUMNS], axis=-1).astype(np.int64)
    by_relation = {row.relation: cases[names == row.relation] for row in rows}
    return GrammarTest(rows, elsewhere, by_relation, shipped.provenance(tables["rows"]))


def _parts(found: GrammarTest) -> tuple[tuple[str, tuple[RelationRow, ...]], ...]:
    return (HELD_OUT, found.rows), (GUM_TOO, found.elsewhere)


class CasesOf(Protocol):
    """:class:`lab.evidence.grammar.accuracy.Cases`, or any other object that gives the cases of a relation."""

    def of(self, relation: str) -> Cases: ...


@dataclass(frozen=True)
class Named:
    """The words that the heads of a model, and of its untrained twin, name in some sentences, and the words' kinds."""

    own: CasesOf
    twin: CasesOf
    tags: Tags

    def of(self, relation: str) -> tuple[Cases, Cases]:
        """Return the cases of one relation."""
        return self.own.of(relation), self.twin.of(relation)


@dataclass(frozen=True)
class _Choice:
    """The choices on half A for a relation: the head, its share and cases on A, the twin's head, the two rules."""

    relation: str
    place: Place
    on_a: float
    count_a: int
    twin: Place
    offset: int
    rule: KindRule


def compared(
    named: Named, first: int, documents: Sequence[int], elsewhere: tuple[Named, Sequence[int]] | None = None
) -> GrammarTest:
    """Build the result from the words named in ``first`` sentences of half A and in the sentences of half B.

    ``documents`` gives the document of each sentence of B. ``elsewhere`` holds the named words and the documents of
    another treebank. A relation without a case in one of the halves is left out.
    """
    rows, there, cases = [], [], {}
    tags_a, tags_b = named.tags.split(first)
    for published in CLARK:
        relation = published.relation
        (own_a, own_b), (twin_a, twin_b) = (_halves(each, first) for each in named.of(relation))
        if not (len(own_a.sentence) and len(own_b.sentence)):
            continue
        choice = _choose(relation, own_a, twin_a, tags_a)
        rows.append(_row(choice, (own_b, twin_b), tags_b, documents))
        columns = own_b.sentence, own_b.dependent, own_b.head, own_b.named[:, *choice.place].astype(np.int64)
        cases[relation] = np.stack(columns, axis=-1)
        if elsewhere is not None and len((also := elsewhere[0].of(relation))[0].sentence):
            there.append(_row(choice, also, elsewhere[0].tags, elsewhere[1]))
    return GrammarTest(_corrected(rows), _corrected(there), cases)


def _corrected(rows: Sequence[RelationRow]) -> tuple[RelationRow, ...]:
    """Return the rows with p-values corrected for the number of rows."""
    p, p_twin = (holm([getattr(row, name) for row in rows]).tolist() for name in ("p", "p_twin"))
    return tuple(replace(row, p=one, p_twin=other) for row, one, other in zip(rows, p, p_twin, strict=True))


def _halves(cases: Cases, first: int) -> tuple[Cases, Cases]:
    """Split the cases into the ``first`` sentences and the rest, whose sentences are renumbered from 0."""
    a, b = cases.where(cases.sentence < first), cases.where(cases.sentence >= first)
    return a, replace(b, sentence=b.sentence - first)


def _choose(relation: str, own: Cases, twin: Cases, tags: Tags) -> _Choice:
    (place, on_a), (twin_place, _), (offset, _) = _best(own), _best(twin), best_offset(own.distance.tolist())
    return _Choice(relation, place, on_a, len(own.sentence), twin_place, offset, best_rule(own, tags.tagger))


def _row(choice: _Choice, found: tuple[Cases, Cases], tags: Tags, documents: Sequence[int]) -> RelationRow:
    """Return a relation's row; its p-values are not corrected yet."""
    own, twin = found
    by_tagger, by_people = (choice.rule.right(own, each) for each in (tags.tagger, tags.gold))
    # For each case, true if the head, the offset, the twin's head and the rule by kinds name the right word.
    right = [own.right[:, *choice.place], own.distance == choice.offset, twin.right[:, *choice.twin], by_tagger]
    drawn = _drawn_shares(np.stack(right, axis=-1), np.asarray(documents)[own.sentence], max(documents) + 1)
    accuracy, baseline, untrained, by_rule = drawn.T
    with np.errstate(invalid="ignore", divide="ignore"):
        own_lifts, twin_lifts = ((each - baseline) / (1 - baseline) for each in (accuracy, untrained))
    counts = [int(each.sum()) for each in right]
    return RelationRow(
        choice.relation,
        *choice.place,
        choice.on_a,
        choice.count_a,
        counts[0],
        len(own.sentence),
        *_ends(accuracy),
        choice.offset,
        counts[1],
        counts[2],
        choice.rule.end,
        choice.rule.side,
        " ".join(choice.rule.kinds),
        counts[3],
        int(by_people.sum()),
        int((right[0] & ~by_tagger).sum()),
        *_ends(accuracy - by_rule),
        _reach(own),
        *_ends(own_lifts),
        *_ends(twin_lifts),
        float(p_above(accuracy - baseline)),
        float(p_above(accuracy - untrained)),
        len(set(np.asarray(documents)[own.sentence].tolist())),
    )


def _drawn_shares(right: NDArray[np.bool_], document: NDArray[np.int64], documents: int) -> NDArray[np.float64]:
    """Return the shares (draws, k) of right cases (cases, k), by a bootstrap over ``documents`` documents.

    Documents without a case are drawn, too. A draw without any case is nan.
    """
    sums = np.stack([np.bincount(document, each, minlength=documents) for each in (*right.T, np.ones(len(right)))])
    weights = np.concatenate(list(crossed_draws(np.arange(documents))))
    with np.errstate(invalid="ignore"):
        return np.asarray((weights @ sums[:-1].T) / (weights @ sums[-1])[:, None])


def drawn_gains(cases: NDArray[np.int64], row: RelationRow, documents: Sequence[int]) -> NDArray[np.float64]:
    """Return the head's accuracy minus the offset's in each drawn set of documents, (draws,).

    ``cases`` are as in :attr:`GrammarTest.cases`. All relations have the same draws, so that relations can be compared.
    """
    sentence, dependent, head, named = cases.T
    right = np.stack([named == (head if row.end == 0 else dependent), head - dependent == row.offset], axis=-1)
    accuracy, baseline = _drawn_shares(right, np.asarray(documents)[sentence], max(documents) + 1).T
    return np.asarray(accuracy - baseline)


def _ends(drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of the draws; nan if no draw has a value."""
    finite = drawn[np.isfinite(drawn)]
    low, high = spread(finite).tolist() if len(finite) else (float("nan"),) * 2
    return low, high


def _best(cases: Cases) -> tuple[Place, float]:
    """Return the head and direction with the most right cases (the first in a tie), and their share of right cases."""
    accuracy = cases.right.mean(0)
    layer, head, end = (int(at) for at in np.unravel_index(int(accuracy.argmax()), accuracy.shape))
    return (layer, head, end), float(accuracy[layer, head, end])


def _reach(cases: Cases) -> float:
    """Return the share of cases that a head can name from the better end: 1, unless heads can only look back."""
    if not cases.causal:
        return 1.0
    return float(max((cases.distance < 0).mean(), (cases.distance > 0).mean()))


@cache
def data_hash() -> str:
    """Return the hash of both treebanks, and of the tagger."""
    return file_hash(EWT, GUM, *tagger_files())


RESULTS = shipped.Results(EXPERIMENT, replicate, from_tables, data_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
