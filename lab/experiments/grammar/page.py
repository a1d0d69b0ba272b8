"""Do heads know grammar? The page: what is asked, drawn and said of the result, and the sentences behind it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.ranges import ranges
from lab.course.words import escaped, head_name, listed
from lab.evidence.kind_rules import in_words, kinds_in_words
from lab.evidence.published import CLARK
from lab.evidence.reasons import LABELS, why
from lab.evidence.relation_cases import between_words, encode_words, find_cases
from lab.evidence.treebank import Sentence, gum, halves
from lab.evidence.verdicts import HOLDS, Verdict
from lab.evidence.word_kinds import LEFT, KindRule
from lab.experiments.grammar.measure import (
    LOOKS_BACK,
    MEASUREMENT,
    NO_EFFECT,
    GrammarTest,
    RelationRow,
    compared,
    fixed_offsets,
    result,
)
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui import runs
from lab.ui.experiments.experiment import Experiment
from lab.ui.experiments.page import look_there
from lab.ui.experiments.reproduced import Lines, markdown, percent
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, HEADS, KEY_TOKEN, LAYER, TOKEN, UNITS
from lab.ui.parameters import WORDS as BETWEEN_WORDS
from lab.ui.tables import DECIMAL, Column, show_table

# What is asked.


# The two words of each relation, the dependent first.
WORDS = {
    "case": "a preposition and its noun",
    "det": "a determiner and its noun",
    "nsubj": "a subject and its verb",
    "obj": "an object and its verb",
    "amod": "an adjective and its noun",
    "advmod": "an adverb and the word that it modifies",
    "compound": "two nouns in a row, as in *dog food*",
    "mark": "a conjunction, or *to*, and the verb of its clause",
    "aux": "an auxiliary and its verb",
    "cop": "*is* and the noun or adjective after it",
    "nmod:poss": "an owner and the thing owned",
    "ccomp": "the verb of a clause and the verb that it is about",
    "aux:pass": "the auxiliary of a passive and its verb",
    "compound:prt": "a particle and its verb, as in *give up*",
}
# The dependent of each relation, in one or two words that fit on an axis.
SHORT = {
    "case": "preposition",
    "det": "determiner",
    "nsubj": "subject",
    "obj": "object",
    "amod": "adjective",
    "advmod": "adverb",
    "compound": "noun by noun",
    "mark": "conjunction",
    "aux": "auxiliary",
    "cop": "copula is",
    "nmod:poss": "owner",
    "ccomp": "clause",
    "aux:pass": "passive aux.",
    "compound:prt": "particle",
}
# The known difference between a relation and the paper's, or between the paper's table and its authors' notebook.
NOTES = {
    "case": (
        "Universal Dependencies reverse the roles: the noun is the head of its preposition. The pair of words is the "
        "same."
    ),
    "nsubj": "Here, the relation includes the subjects of passive verbs.",
    "mark": "Here, the relation includes the “to” of infinitives, which is aux in the paper’s treebank.",
    "aux": "Here, the relation does not include the “to” of infinitives.",
    "cop": "This relation is not in the paper, but the authors’ notebook prints it.",
    "aux:pass": (
        "The paper prints 82.5 with an offset of 40.5. The authors’ notebook prints 94.1 with 82.5, and 72.2 with "
        "40.5 for cop, so the paper’s row seems to pair two offsets. This table has the notebook’s figures."
    ),
}
# Rows of the table without a counterpart in Universal Dependencies, and the reason.
WITHOUT_TWIN = {
    "prep": "Universal Dependencies have no relation from a preposition up to what it modifies.",
    "all": "This row counts punctuation and roots, and no head can name roots right. The sentences here leave both "
    "out.",
}


def bet() -> Bet:
    """Ask whether a head beats the best fixed distance in most relations."""
    offset, share = fixed_offsets()["nsubj"]
    return Bet(
        "count",
        f"To name the verb of a subject, the best rule about distances is “always {_rule(offset)}”. This rule is "
        f"right in {share:.0%} of cases. What do you expect of the best head for each relation of grammar?",
        (
            Belief(
                "In most relations, a head beats the rule",
                "A head knows the words, but a distance knows only places.",
                "the best head would be clearly to the right of the best fixed distance in most rows of the figure",
            ),
            Belief(
                "In most relations, no head beats the rule",
                "Words that belong together are usually neighbours, and many heads look at a neighbour.",
                "the best head would be next to the best fixed distance in most rows of the figure",
            ),
        ),
    )


def _rule(offset: int) -> str:
    """Name the place that an offset (head − dependent) picks, seen from the first word of the pair in :data:`WORDS`."""
    words = "next word" if abs(offset) == 1 else f"word {abs(offset)} places"
    if offset == -1:
        return "the word before"
    return f"the {words}" if offset == 1 else f"the {words} {'on' if offset > 0 else 'back'}"


def decided(found: GrammarTest) -> Right | None:
    """Answer by the share of relations in which the claim holds, unless the undecided relations could turn it."""
    testable, held = _testable(found), _held(found)
    if not testable:
        return None
    unsure = sum(row.judged.verdict is Verdict.INCONCLUSIVE for row in testable)
    option = between((len(held) / len(testable), (len(held) + unsure) / len(testable)), (0.5,))
    told = f"In {len(held)} of {len(testable)} relations, a head is clearly better than the best rule."
    return None if option is None else (1 - option, told)


def _testable(found: GrammarTest) -> list[RelationRow]:
    return [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]


def _held(found: GrammarTest) -> list[RelationRow]:
    """The relations in which the claim holds."""
    return [row for row in found.rows if row.judged.verdict in HOLDS]


def gain(row: RelationRow) -> float:
    """Subtract the share of half B that the best fixed distance gets right from the best head's."""
    return row.accuracy - row.offset_accuracy


def _points(row: RelationRow) -> str:
    return f"{100 * gain(row):.1f}"


# The figures: they need nothing but the model, so a notebook can draw them again.


DIRECTIONS = ("dependent → head", "head → dependent")


def relation_chart(model: LoadedModel) -> Figure:
    """Draw each relation's best head on half B and on GUM, beside the two rules, the twin and the paper.

    Runs the experiment if its result neither ships nor is known yet. The figure's table has every number of the result.
    Raises ValueError if the model can read no sentence.
    """
    found = result(model)
    low, high = ([getattr(row, name) for row in found.rows] for name in ("share_low", "share_high"))
    points = {
        "best head, on B": [row.accuracy for row in found.rows],
        "the same head, on GUM": [row.accuracy for row in found.elsewhere],
        "rule by kinds of words": [row.rule_accuracy for row in found.rows],
        "best fixed distance": [row.offset_accuracy for row in found.rows],
        "untrained twin": [row.twin for row in found.rows],
        "Clark et al.": [row.published.accuracy for row in found.rows],
    }
    drawn = ranges(
        [SHORT[row.relation] for row in found.rows],
        points,
        (low, high),
        Scale("Share named right", (0.0, 1.0), ".2f"),
        title=f"Which relations a head of {model.id} finds",
    )
    return replace(drawn, table=partial(as_frame, found))


def as_frame(found: GrammarTest, gum: bool = False) -> pd.DataFrame:
    """One line for each relation: published, ours, baselines, number of cases, intervals, the verdict and its reason.

    The numbers are for half B of EWT, or, with ``gum``, for GUM. The verdict on the other treebank has its own column.
    """
    rows, others = (found.elsewhere, found.rows) if gum else (found.rows, found.elsewhere)
    return pd.DataFrame([
        {
            "relation": row.relation, "two words": WORDS[row.relation].replace("*", ""),
            "in the paper": row.published.name, "published": row.published.accuracy,
            "published distance": row.published.offset, "published lift": row.published.lift,
            "ours": row.accuracy, "low": row.share_low, "high": row.share_high,
            "best fixed distance": row.offset_accuracy, "rule by kinds": row.rule_accuracy,
            "rule by gold kinds": row.gold_accuracy, "untrained twin": row.twin, "n": row.count,
            "documents": row.documents, "lift": row.lift, "lift low": row.low, "lift high": row.high,
            "twin’s lift": row.twin_lift, "p (Holm)": row.p, "p above the twin (Holm)": row.p_twin,
            "verdict": LABELS[row.judged.verdict], "on the other treebank": LABELS[other.judged.verdict],
            "head": row.name, "direction": DIRECTIONS[row.end], "on A": row.on_a, "A − B": row.selection_bias,
            "n of A": row.count_a, "distance": row.offset, "rule": told(row.rule),
            "above the rule, low": row.beyond_low, "above the rule, high": row.beyond_high,
            "right where the rule is wrong": row.where_rule_fails, "reach": row.reach, "why": why_of(row),
        }
        for row, other in zip(rows, others, strict=True)
    ])  # fmt: skip


# What is said.


def meaning_of(found: GrammarTest, model_id: str) -> str:
    """Say for how many relations a head is found, in which relation it gains most, and whether other texts agree."""
    testable, held = _testable(found), _held(found)
    name = escaped(model_id)
    if not testable:
        return f"No part of the claim can be tested on {name}."
    if not held:
        return f"In none of {len(testable)} relations is a head of {name} clearly better than the best fixed distance."
    said = (
        f"In **{len(held)} of {len(testable)}** relations, a head of {name} is clearly better than the best fixed "
        f"distance and any head before training. {_farthest(max(held, key=gain))}"
    )
    return f"{said} {beside_kinds(testable)}"


def beside_kinds(rows: Sequence[RelationRow]) -> str:
    """Count the relations in which a rule that knows only kinds of words is clearly better than the head."""
    worse = [row for row in rows if row.beyond_high < 0]
    said = f"But in **{len(worse)} of {len(rows)}**, a rule that knows only kinds of words is clearly better"
    subject = next((row for row in worse if row.relation == "nsubj"), None)
    if subject is None or (subject.rule_end, subject.rule_side) != (1, LEFT):
        return f"{said}."
    rule = f"{100 * subject.rule_accuracy:.0f}"
    return f"{said}: the nearest {kinds_in_words(subject.rule)} left of a verb is its subject in {rule} of 100."


def _elsewhere(found: GrammarTest) -> list[str]:
    """Say in how many of the relations that hold the same heads are again better on GUM, and beside the second rule."""
    held = _held(found)
    there = {row.relation: row.judged.verdict for row in found.elsewhere}
    also = sum(there.get(row.relation) in HOLDS for row in held)
    new = (
        "In other texts, which were not used for choosing, the same heads are again better than the "
        f"distance in {also} of {len(held)} relations."
    )
    above = sum(row.beyond_low > 0 for row in _testable(found))
    kinds = f"In {above} relations, the head is clearly better than the rule that knows only kinds of words."
    return [*([new] if found.elsewhere and held else []), kinds]


def told(rule: KindRule) -> str:
    """Write a rule by kinds of words: "from the head, the nearest noun or pronoun to the left"."""
    return f"from the {'dependent' if rule.end == 0 else 'head'}, {in_words(rule)}"


def _farthest(row: RelationRow) -> str:
    """Describe the relation with the largest gain, in cases out of a hundred."""
    ours, rule = (f"{100 * share:.0f}" for share in (row.accuracy, row.offset_accuracy))
    return (
        f"The gain is largest for {WORDS[row.relation]}: {head_name((row.layer, row.head))} is right in {ours} of 100 "
        f"cases, the best distance in {rule}."
    )


def verdict_of(found: GrammarTest) -> str:
    """Count the relations by verdict, the most frequent first."""
    counts = Counter(LABELS[row.judged.verdict] for row in found.rows)
    told = [f"**{verdict}** for {count}" for verdict, count in counts.most_common()]
    return f"By relation, it is {listed(told)}."


def in_full(found: GrammarTest, model_id: str) -> str:
    """State the sizes of the data, the relations not reproduced, the relations left open, and the selection bias."""
    testable = _testable(found)
    return " ".join(
        [
            *_sizes(_held(found)),
            *_elsewhere(found),
            *_where_kinds_fail(testable),
            *_without(testable, model_id),
            *_open(testable),
            _bias(found.rows),
        ]
    )


def _sizes(held: Sequence[RelationRow]) -> list[str]:
    if not held:
        return []
    best, smaller = max(held, key=gain), [r for r in held if r.judged.verdict is Verdict.SMALLER]
    found = [
        f"The largest lead is in {best.relation}, {WORDS[best.relation]}. Head {best.name} names the right word in "
        f"{best.accuracy:.0%} of the cases, and the best fixed distance names it in {best.offset_accuracy:.0%}. So "
        f"the head leads by {_points(best)} points."
    ]
    if smaller:
        these = "all of these relations" if len(smaller) == len(held) else f"{len(smaller)} of these relations"
        found.append(
            "The verdict uses the **lift**: of the gap between the best fixed distance and 100%, the share that the "
            "head closes. In "
            f"{these} the lift is clearly smaller than in the paper."
        )
    return found


def _where_kinds_fail(testable: Sequence[RelationRow]) -> list[str]:
    """Say how often the subject's head is right where the rule by kinds of words is wrong."""
    return [
        f"The rule by kinds of words misses the subject in {row.count - row.rule_right} of {row.count} cases. "
        f"In {row.where_rule_fails} of these, head {row.name} is right."
        for row in testable
        if row.relation == "nsubj" and row.rule_right < row.count
    ]


def _without(testable: Sequence[RelationRow], model_id: str) -> list[str]:
    """Count the relations in which the claim does not hold, and name the authors who found the same."""
    count = sum(row.judged.verdict in (Verdict.NOT_REPRODUCED, Verdict.OPPOSITE) for row in testable)
    untrained = sum(row.judged.verdict is Verdict.ALSO_UNTRAINED for row in testable)
    said = []
    if count:
        are = "One relation is" if count == 1 else f"{count} relations are"
        said.append(
            f"{are} not reproduced. That is a finding about {escaped(model_id)} on these sentences. The paper "
            "tested BERT base on other sentences, so this does not refute it."
        )
    if untrained:
        said.append(f"In {untrained} of the relations, the untrained twin does about as well.")
    return said


def _open(testable: Sequence[RelationRow]) -> list[str]:
    names = [row.relation for row in testable if row.judged.verdict is Verdict.INCONCLUSIVE]
    if not names:
        return []
    return [
        f"For {', '.join(names)}, the interval is too wide for a verdict. We would need more sentences, not a better "
        "model."
    ]


def why_of(row: RelationRow) -> str:
    """Give the reason of the verdict on a relation, in a sentence."""
    reason, published = row.judged.effect.untestable, row.published
    if reason == NO_EFFECT:
        return (
            "In the paper itself, the best head is hardly better than the best fixed distance "
            f"({published.accuracy:.1%} against {published.offset:.1%}), so there is no effect to reproduce."
        )
    if reason == LOOKS_BACK:
        return (
            f"A head of this model only looks back, so it can name at most {row.reach:.1%} of the words. The best "
            f"fixed distance, which may look ahead, names {row.offset_accuracy:.1%} of them."
        )
    return why(row.judged)


def untestable(found: GrammarTest) -> str:
    """List the relations that cannot be tested here, and why; "" if all can."""
    return "\n".join(
        f"- **Not testable here** is {row.relation}, {WORDS[row.relation]}. {why_of(row)}"
        for row in found.rows
        if row.judged.verdict is Verdict.NOT_TESTABLE
    )


def _bias(rows: Sequence[RelationRow]) -> str:
    """State the mean of A − B, which is positive if choosing the best head flattered its score."""
    bias = sum(row.selection_bias for row in rows) / len(rows)
    if bias > 0:
        return (
            f"On average, the heads score {100 * bias:.1f} points more on half A, where they were chosen, than on "
            "half B. That is **selection bias**: the best of many heads owes part of its score to luck."
        )
    return (
        f"On average, the heads score {100 * -bias:.1f} points less on half A, where they were chosen, than on half "
        "B. So choosing the best heads caused no visible bias here."
    )


# Single cases.


_RELATION = "_experiment_relation"
# Number of words of a sentence that is quick to read, and characters that occur in addresses and numbers.
_SHORT = range(6, 19)
_NOT_PLAIN = re.compile(r"[0-9@/\\_<>#]|\.\w")


@dataclass(frozen=True)
class ShownCase:
    """One case: the sentence, the word from which the head looks, the word to name, the word it names (or −1)."""

    sentence: Sentence
    asked: int
    sought: int
    named: int

    @property
    def text(self) -> str:
        return " ".join(self.sentence.words)

    @property
    def right(self) -> bool:
        return self.named == self.sought


def cases_of(found: GrammarTest, row: RelationRow) -> list[ShownCase]:
    """The cases of half B in sentences of 6 to 18 words without numbers and addresses, the shortest first."""
    b = halves()[1].sentences
    shown = []
    for sentence, dependent, head, named in found.cases[row.relation].tolist():
        if len(b[sentence].words) in _SHORT and not _NOT_PLAIN.search(" ".join(b[sentence].words)):
            asked, sought = (dependent, head) if row.end == 0 else (head, dependent)
            shown.append(ShownCase(b[sentence], asked, sought, named))
    return sorted(shown, key=lambda case: len(case.sentence.words))


def show_cases(model: LoadedModel, found: GrammarTest) -> Trace | None:
    """Draw the choice of a relation, its verdict and its sentences; returns the first sentence's run."""
    rows = {row.relation: row for row in found.rows}
    held = [row for row in found.rows if row.judged.verdict in HOLDS] or list(found.rows)
    best = max(held, key=lambda row: row.lift if np.isfinite(row.lift) else -1).relation
    chosen = st.selectbox(
        "Relation", list(rows), list(rows).index(best), key=_RELATION, format_func=lambda name: f"{name}: {WORDS[name]}"
    )
    row = rows.get(chosen, rows[best])
    st.markdown(
        f"**{LABELS[row.judged.verdict].capitalize()}.** {why_of(row)} Head {row.name}, {DIRECTIONS[row.end]}, "
        f"is right in {row.right} of {row.count} cases. {NOTES.get(row.relation, '')}".rstrip()
    )
    st.caption(
        "These are the sentences of half B that have 6 to 18 words and no numbers or addresses. The shortest come "
        "first."
    )
    cases = cases_of(found, row)
    kinds = {
        title: [case for case in cases if case.right == right] for title, right in (("Right", True), ("Wrong", False))
    }
    none = "There is no short sentence of this kind."
    shown = two_kinds(kinds, lambda case, key: _show_case(model, row, case, key), "Other sentences", none)
    return runs.run(model.id, shown[0].text, "", Interventions()) if shown else None


def _show_case(model: LoadedModel, row: RelationRow, case: ShownCase, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(case))
        words = case.sentence.words
        asked, sought = escaped(words[case.asked]), escaped(words[case.sought])
        said = (
            f"names **{escaped(words[case.named])}**"
            if case.named >= 0
            else "names nothing, because it sees no other word"
        )
        st.caption(f"Starting from **{asked}**, the head should name **{sought}**. It {said}.")
        here: dict[Parameter[Any], Any] = {LAYER: row.layer + 1, HEAD: row.head + 1, **tokens_of(model, case)}
        with st.container(horizontal=True):
            heads = here | {HEADS: str(row.head + 1), UNITS: BETWEEN_WORDS}
            look_there("head-view", case.text, heads, f"_experiment.view.{key}")
            look_there("head-specialization", case.text, here, f"_experiment.lesson.{key}", "grammar")


def marked(case: ShownCase) -> str:
    """The sentence as Markdown: the word that looks is blue, the word to name green, a wrong word orange."""
    colours = {case.named: "orange", case.sought: "green", case.asked: "blue"}
    return " ".join(
        f":{colours[at]}-background[{escaped(word)}]" if at in colours else escaped(word)
        for at, word in enumerate(case.sentence.words)
    )


def tokens_of(model: LoadedModel, case: ShownCase) -> dict[Parameter[Any], int]:
    """Query and key for a link, from 1: the first token of the word that looks, and of the word that it names."""
    found = encode_words(model, case.sentence.words)
    if found is None:
        return {}
    named = case.named if case.named >= 0 else case.sought
    pieces = [np.flatnonzero(found[1] == word) for word in (case.asked, named)]
    return {
        parameter: int(each[0]) + 1 for parameter, each in zip((TOKEN, KEY_TOKEN), pieces, strict=True) if len(each)
    }


# The page.


def _columns_of(other: str) -> tuple[Column, ...]:
    """List the columns of a table of results, with the verdict on the ``other`` treebank."""
    return (
        Column("two words", 160),
        Column("verdict", 106),
        Column(
            "on the other treebank", 106, heading=f"on {other}", help=f"The verdict when the same heads read {other}."
        ),
        Column("published", 74, DECIMAL),
        Column("ours", 46, DECIMAL),
        Column("best fixed distance", 68, DECIMAL, "distance", "The best fixed distance."),
        Column("rule by kinds", 46, DECIMAL, "kinds", "The best rule by kinds of words, with a tagger."),
        Column("rule by gold kinds", 46, DECIMAL, "gold", "This rule, with the kinds of words that people annotated."),
        Column("untrained twin", 46, DECIMAL, "twin", "The untrained twin: the same model with random weights."),
        Column("n", 46),
        Column("lift", 46, DECIMAL),
        Column("lift low", 46, DECIMAL, "low"),
        Column("lift high", 46, DECIMAL, "high"),
        Column("head", 46),
    )


def unreadable(model: LoadedModel, found: GrammarTest) -> str:
    """Return the reason why the result has no relation; "" if it has one."""
    if found.rows:
        return ""
    return f"{escaped(model.id)} cannot read any of these sentences in full, so the claim cannot be tested on it."


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    a, b = (len(half.sentences) for half in halves())
    told = (
        f"People wrote down the grammar of {a + b:,} sentences of UD English EWT. Starting from one word of each "
        "relation, a head names the word that it attends to most. Special tokens and the word itself do not count. "
        "The rule always names the word at the distance that is right most often. For each relation, the best head "
        f"is chosen on half **A** ({a} sentences) and measured on half **B** ({b} sentences from other documents). "
        f"Then the same head reads {len(gum().sentences):,} sentences of UD English **GUM**, which were not used for "
        "choosing. A second rule names the nearest word to the left or right that has one of a few parts of speech. "
        "This rule is chosen on half A, with the tags of the lab’s tagger. It does not enter the verdict, because the "
        "paper has no such rule."
    )
    if model.config.causal:
        told += (
            f"\n\nA head of {escaped(model.id)} only looks back, so it can start only from the later word of a "
            "relation. If the head cannot see the other word, the case counts as wrong. The best fixed distance may "
            "look ahead."
        )
    return told


def subject_head(found: GrammarTest) -> Head | None:
    """Return the head that finds subjects, which a learner may know from lesson 6."""
    return next(((row.layer, row.head) for row in found.rows if row.relation == "nsubj"), None)


def show_in_full(model: LoadedModel, found: GrammarTest) -> None:
    """Draw all that the result says, and the relations that cannot be tested."""
    st.markdown(in_full(found, model.id))
    if reasons := untestable(found):
        st.markdown(reasons)


def show_numbers(_: LoadedModel, found: GrammarTest) -> None:
    """Draw every relation in numbers, on both treebanks."""
    with st.expander("All relations in numbers", icon=":material/table_rows:"):
        show_table(as_frame(found), _columns_of("GUM"), long_texts=True)
        _show_columns()
    with st.expander("The same heads on GUM", icon=":material/table_rows:"):
        show_table(as_frame(found, gum=True), _columns_of("EWT"), long_texts=True)


def _show_columns() -> None:
    st.caption(
        "**Published** is the paper’s figure for bert-base on the Penn Treebank. **Ours** is the share of our head, "
        "which is chosen on A and measured on B. The **distance** rule always names the word at one distance; this "
        "distance is chosen on A, and the rule is measured on B. The rule by **kinds** always names the nearest word "
        "on one side that has one of a few parts of speech; it is chosen on A with the lab’s tagger. **Gold** is the "
        "same rule with annotated parts of speech. The **twin** is the same model with random weights, and its head "
        "is chosen and measured like ours. The **lift** is (ours − distance) / (1 − distance), computed from the "
        "shares. Its 95 % interval goes from **low** to **high** (2,000 bootstraps over documents). Head 2-6 is head "
        "6 of layer 2. The button in the figure’s corner shows all "
        "columns: the relation’s name in the treebank, the published lift, the twin’s lift, our head on A, selection "
        "bias (**A − B**), the rule by kinds in words, p, and the paper’s names."
    )


def _show_mapping(*_: object) -> None:
    with st.expander("From the paper’s relations to these", icon=":material/compare_arrows:"):
        st.markdown(
            "The paper uses the Stanford Dependencies of the Penn Treebank. This table lists the relations that have "
            "a counterpart here, and those that have none."
        )
        rows = [(each.name, each.relation, NOTES.get(each.relation, "")) for each in CLARK]
        rows += [(name, "–", reason) for name, reason in WITHOUT_TWIN.items()]
        st.table(pd.DataFrame(rows, columns=["in the paper", "here", "note"]), hide_index=True, border="horizontal")


def reproduced(found: GrammarTest) -> Lines:
    """A line for each relation, on half B of EWT and on GUM."""
    lines = [
        (
            row.relation,
            _with_offset(row.published.accuracy, row.published.offset),
            row.name,
            *_measured(row),
            *_measured(there),
        )
        for row, there in zip(found.rows, found.elsewhere, strict=True)
    ]
    here = ("EWT, half B (offset)", "by kinds (gold)", "twin", "n", "verdict")
    return markdown(("relation", "published (offset)", "head", *here, "GUM (offset)", *here[1:]), lines)


def _measured(row: RelationRow) -> tuple[str, ...]:
    return (
        _with_offset(row.accuracy, row.offset_accuracy),
        _with_offset(row.rule_accuracy, row.gold_accuracy),
        percent(row.twin),
        f"{row.count:,}",
        LABELS[row.judged.verdict],
    )


def _with_offset(share: float, other: float) -> str:
    return f"{percent(share)} ({percent(other)})"


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    bet=lambda _: bet(),
    decided=decided,
    takes=lambda _: "The measurement takes half a minute for a small model and a few minutes for BERT base.",
    help="This model and its untrained twin both read every sentence.",
    empty=unreadable,
    figure=lambda model, _: partial(relation_chart, model),
    name="grammar-relations",
    caption=lambda *_: (
        "Each row shows the relation’s best head, two rules, the **untrained twin** (before training) and the paper."
    ),
    meaning=meaning_of,
    verdict=verdict_of,
    head=subject_head,
    show_in_full=show_in_full,
    show_numbers=show_numbers,
    rule=(
        "The effect is the **lift**: of the gap between the best fixed distance and 100 %, the share that the head "
        "closes. Its "
        "interval comes from a bootstrap over documents."
    ),
    show_more=_show_mapping,
    data="sentences",
    code=(compared, find_cases, between_words),
    cases="The sentences behind a number",
    show_cases=show_cases,
    method=method,
    tables={"": reproduced},
)
