"""Do heads know grammar? Table 1 of Clark et al. 2019, replicated with heads that are chosen and measured on different
sentences.

The best of many heads is the best partly by luck. So the head, its direction, the fixed offset and the twin's head are
chosen on half A of EWT. All are measured on half B, which has other documents, and once more on GUM, on which nothing
was ever chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from lab.evidence import shipped
from lab.evidence.intervals import CLAIM_DRAWS, crossed_draws, holm, no_event, p_above, spread
from lab.evidence.measurement import Measurement
from lab.evidence.relation_cases import Cases, best_offset, find_cases
from lab.evidence.tables import APART
from lab.evidence.treebank import EWT, GUM, Sentence, file_hash, gum, halves
from lab.evidence.verdicts import CLARK, BesideRule, Effect, Judged, Published, TwinEffect, judge, lift
from lab.evidence.word_kinds import KindRule, Tags, best_rule, tags_of
from lab.models.batches import ProgressFunction, unwatched
from lab.models.twin import untrained_twin
from lab.text.tags.pipeline import tagger_files

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# The smallest published lift that counts as an effect to reproduce.
_LEAST_LIFT = 0.05
# The smallest difference of accuracy by which a head would count as better than a rule by kinds of words.
BEYOND_RULE = 0.05
# The reasons why a relation cannot be tested: nothing to reproduce, or a fixed distance that looks ahead.
NO_EFFECT, LOOKS_BACK = "no effect", "looks back"


@dataclass(frozen=True)
class RelationRow:
    """One relation: the head that was chosen on half A of EWT, and its results on other sentences.

    Attributes
    ----------
    relation
        The relation's name in Universal Dependencies.
    layer, head, end
        The attention head, from 0; ``end`` is 0 if it names words from the dependent, 1 if from the word's head.
    on_a, count_a
        The share of cases on A that the head names right, and the number of cases on A.
    right, count
        The number of cases here that the head names right, and the number of all cases here.
    share_low, share_high
        The 95 % interval of ``right`` / ``count``.
    offset, offset_right
        The best fixed offset on A (head − dependent, in words), and the number of cases here that it names right.
    twin_right
        The number of cases here that the untrained twin's best head on A names right.
    rule_end, rule_side, rule_kinds, rule_last
        The best rule on A by kinds of words (:class:`lab.evidence.word_kinds.KindRule`), which starts at the same end
        as the head; the kinds are joined by spaces.
    rule_right, gold_right
        The number of cases here that this rule names right, by a tagger's parts of speech and by annotated ones.
    where_rule_fails
        The number of cases here that the head names right although the rule, with the tagger, does not.
    beyond_low, beyond_high
        The 95 % interval of the head's accuracy minus the rule's, with the tagger.
    reach
        The share of cases that any head of this model could name right: 1, or less if heads cannot look ahead.
    low, high
        The 95 % interval of the lift. All intervals are by a bootstrap over documents.
    twin_low, twin_high
        The 95 % interval of the lift of the untrained twin's best head.
    p, p_twin, p_rule
        The probability of a draw in which the head is not above the offset, the twin's head, or the rule with the
        tagger; corrected by Holm.
    p_below, p_twin_below
        The probability of a draw in which the head is not below the offset, or the twin's head; corrected by Holm.
    documents
        The number of documents with a case.
    """

    relation: str
    layer: int
    head: int
    end: int
    on_a: float
    count_a: int
    right: int
    count: int
    share_low: float
    share_high: float
    offset: int
    offset_right: int
    twin_right: int
    rule_end: int
    rule_side: int
    rule_kinds: str
    rule_last: bool
    rule_right: int
    gold_right: int
    where_rule_fails: int
    beyond_low: float
    beyond_high: float
    reach: float
    low: float
    high: float
    twin_low: float
    twin_high: float
    p: float
    p_twin: float
    p_rule: float
    p_below: float
    p_twin_below: float
    documents: int

    @property
    def name(self) -> str:
        """The head as papers write it, from 1: "3-1" is head 1 of layer 3."""
        return f"{self.layer + 1}-{self.head + 1}"

    @property
    def accuracy(self) -> float:
        return self.right / self.count

    @property
    def offset_accuracy(self) -> float:
        return self.offset_right / self.count

    @property
    def twin(self) -> float:
        return self.twin_right / self.count

    @property
    def rule(self) -> KindRule:
        """The rule by kinds of words."""
        return KindRule(self.rule_end, self.rule_side, tuple(self.rule_kinds.split()), self.rule_last)

    @property
    def rule_accuracy(self) -> float:
        """The share of cases that the rule by kinds of words names right, with a tagger."""
        return self.rule_right / self.count

    @property
    def gold_accuracy(self) -> float:
        """The share of cases that the rule by kinds of words names right, with annotated parts of speech."""
        return self.gold_right / self.count

    @property
    def lift(self) -> float:
        """(accuracy − offset) / (1 − offset): the head's gain over the fixed offset, as a share of the largest gain."""
        return lift(self.accuracy, self.offset_accuracy)

    @property
    def twin_lift(self) -> float:
        """The lift of the untrained twin's best head."""
        return lift(self.twin, self.offset_accuracy)

    @property
    def published(self) -> Published:
        return next(each for each in CLARK if each.relation == self.relation)

    @property
    def judged(self) -> Judged:
        """The verdict by :data:`lab.evidence.reasons.RULE`; the effect is the lift."""
        return judge(
            Effect(
                self.lift,
                self.low,
                self.high,
                self.p,
                self.p_below,
                self.count,
                self.published.lift,
                twin=TwinEffect(self.twin_low, self.twin_high, self.p_twin, self.p_twin_below),
                rule=BesideRule(self.beyond_low, self.beyond_high, self.p_rule, BEYOND_RULE),
                untestable=_untestable(self, self.published),
            )
        )


def _untestable(row: RelationRow, published: Published) -> str:
    if published.lift < _LEAST_LIFT:
        return NO_EFFECT
    return LOOKS_BACK if row.reach <= row.offset_accuracy else ""


Place = tuple[int, int, int]  # layer, head, end


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
    made: shipped.Provenance | None = field(default=None, metadata=APART)


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


def replicate(model: LoadedModel, progress: ProgressFunction = unwatched) -> GrammarTest:
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


def _share(progress: ProgressFunction, done: int, of: int) -> ProgressFunction:
    return lambda share: progress((done + share) / of)


class CasesOf(Protocol):
    """:class:`lab.evidence.relation_cases.Cases`, or any other object that gives the cases of a relation."""

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


_P = ("p", "p_twin", "p_rule", "p_below", "p_twin_below")


def _corrected(rows: Sequence[RelationRow]) -> tuple[RelationRow, ...]:
    """Return the rows with p-values corrected for the number of rows."""
    p = {name: holm([getattr(row, name) for row in rows]).tolist() for name in _P}
    return tuple(replace(row, **{name: p[name][at] for name in _P}) for at, row in enumerate(rows))


def _halves(cases: Cases, first: int) -> tuple[Cases, Cases]:
    """Split the cases into the ``first`` sentences and the rest, whose sentences are renumbered from 0."""
    a, b = cases.where(cases.sentence < first), cases.where(cases.sentence >= first)
    return a, replace(b, sentence=b.sentence - first)


def _choose(relation: str, own: Cases, twin: Cases, tags: Tags) -> _Choice:
    (place, on_a), (twin_place, _), (offset, _) = _best(own), _best(twin), best_offset(own.distance.tolist())
    rule = best_rule(own, tags.tagger, (place[2],))  # it starts where the head does, and answers the same question
    return _Choice(relation, place, on_a, len(own.sentence), twin_place, offset, rule)


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
        choice.rule.last,
        counts[3],
        int(by_people.sum()),
        int((right[0] & ~by_tagger).sum()),
        *_ends(accuracy - by_rule),
        _reach(own),
        *(_ends(own_lifts) if (right[0] != right[1]).any() else _no_case_differs(len(own.sentence), counts[1])),
        *_ends(twin_lifts),
        float(p_above(accuracy - baseline)),
        float(p_above(accuracy - untrained)),
        float(p_above(accuracy - by_rule)),
        float(p_above(baseline - accuracy)),
        float(p_above(untrained - accuracy)),
        len(set(np.asarray(documents)[own.sentence].tolist())),
    )


def _drawn_shares(right: NDArray[np.bool_], document: NDArray[np.int64], documents: int) -> NDArray[np.float64]:
    """Return the shares (draws, k) of right cases (cases, k), by a bootstrap over ``documents`` documents.

    Documents without a case are drawn, too. A draw without any case is nan.
    """
    sums = np.stack([np.bincount(document, each, minlength=documents) for each in (*right.T, np.ones(len(right)))])
    drawn = np.concatenate([weights @ sums.T for weights in crossed_draws(np.arange(documents), times=CLAIM_DRAWS)])
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn[:, :-1] / drawn[:, -1:])


def _no_case_differs(count: int, offset_right: int) -> tuple[float, float]:
    """Return the interval of the lift if head and offset are right in the same cases, by the rule of three."""
    most = no_event(count) / (1 - offset_right / count)
    return -most, most


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


MEASUREMENT = Measurement("grammar", __name__, GrammarTest, replicate, data_hash, seconds=150)
known, result, again = MEASUREMENT.known, MEASUREMENT.result, MEASUREMENT.again
