"""One line of the result: a relation, the head that finds it, the baselines beside it, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from lab.evidence.grammar.word_kinds import KindRule
from lab.evidence.published import CLARK, Published, lift
from lab.evidence.verdicts import Effect, Judged, TwinEffect, judge

# The smallest published lift that counts as an effect to reproduce.
_NO_EFFECT = 0.05


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
    rule_end, rule_side, rule_kinds
        The best rule by kinds of words on A (:class:`lab.evidence.grammar.word_kinds.KindRule`); the kinds are joined
        by spaces.
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
    p, p_twin
        The probability of a draw in which the head is not above the offset, or the twin; corrected by Holm.
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
        return KindRule(self.rule_end, self.rule_side, tuple(self.rule_kinds.split()))

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
    def selection_bias(self) -> float:
        """The bias from choosing the head on A: accuracy on A − accuracy on B."""
        return self.on_a - self.accuracy

    @property
    def published(self) -> Published:
        return next(each for each in CLARK if each.relation == self.relation)

    @property
    def judged(self) -> Judged:
        """The verdict by :data:`lab.evidence.verdicts.RULE`; the effect is the lift."""
        return judge(
            Effect(
                self.lift,
                self.low,
                self.high,
                self.p,
                self.count,
                self.published.lift,
                twin=TwinEffect(self.twin_low, self.twin_high, self.p_twin),
                untestable=_untestable(self, self.published),
            )
        )


def _untestable(row: RelationRow, published: Published) -> str:
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
