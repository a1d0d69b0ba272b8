"""Do heads know grammar? The page: what is asked, drawn and said of the result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.ranges import ranges
from lab.course.words import escaped, head_name, listed
from lab.evidence.kind_rules import in_words
from lab.evidence.relation_cases import between_words, find_cases
from lab.evidence.treebank import gum, halves
from lab.evidence.verdicts import HOLDS, Verdict
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
from lab.experiments.grammar.relation_sentences import DIRECTIONS, WORDS, show_cases
from lab.models.interventions import Head
from lab.models.loading import LoadedModel
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui.experiments.claim_table import ClaimLine, number, reproduced, with_ends
from lab.ui.experiments.experiment import Experiment

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
BEATEN = "clearly better than the best fixed distance, the rule by kinds of words and the untrained twin’s head"


def bet() -> Bet:
    """Ask whether a head beats both rules in most relations."""
    offset, share = fixed_offsets()["nsubj"]
    return Bet(
        "count",
        f"To name the verb of a subject, the best rule about distances is “always {_rule(offset)}”. This rule is "
        f"right in {share:.0%} of cases. A second rule knows kinds of words, such as “always the nearest noun to the "
        "left”. What do you expect of the best head for each relation of grammar?",
        (
            Belief(
                "In most relations, a head beats both rules",
                "A head knows the words, but the rules know only places and kinds of words.",
                "the best head would be clearly to the right of both rules in most rows of the figure",
            ),
            Belief(
                "In most relations, a rule does as well as any head",
                "Words that belong together are usually near, and they are of the same few kinds.",
                "one of the rules would be level with the best head, or to its right, in most rows of the figure",
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
    told = f"In {len(held)} of {len(testable)} relations, a head is {BEATEN}."
    return None if option is None else (1 - option, told)


def _testable(found: GrammarTest) -> list[RelationRow]:
    return [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]


def _held(found: GrammarTest) -> list[RelationRow]:
    """The relations in which the claim holds."""
    return [row for row in found.rows if row.judged.verdict in HOLDS]


def gain(row: RelationRow) -> float:
    """Subtract the share of half B that the best fixed distance gets right from the best head's."""
    return row.accuracy - row.offset_accuracy


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


def as_frame(found: GrammarTest) -> pd.DataFrame:
    """One line for each relation, on half B of EWT: published, ours, rules, twin, lifts with intervals, and choices."""
    return pd.DataFrame([
        {
            "relation": row.relation, "in the paper": row.published.name, "published": row.published.accuracy,
            "published distance": row.published.offset, "published lift": row.published.lift,
            "head": row.name, "direction": DIRECTIONS[row.end], "on A": row.on_a, "n of A": row.count_a,
            "ours": row.accuracy, "low": row.share_low, "high": row.share_high, "n": row.count,
            "documents": row.documents, "on GUM": there.accuracy, "n on GUM": there.count,
            "distance": row.offset, "best fixed distance": row.offset_accuracy, "untrained twin": row.twin,
            "rule": f"{DIRECTIONS[row.rule_end]}: {in_words(row.rule)}", "rule by kinds": row.rule_accuracy,
            "rule by gold kinds": row.gold_accuracy, "above the rule, low": row.beyond_low,
            "above the rule, high": row.beyond_high, "right where the rule is wrong": row.where_rule_fails,
            "lift": row.lift, "lift low": row.low, "lift high": row.high, "twin’s lift": row.twin_lift,
            "p (Holm)": row.p, "p above the twin (Holm)": row.p_twin, "p above the rule (Holm)": row.p_rule,
            "reach": row.reach,
        }
        for row, there in zip(found.rows, found.elsewhere, strict=True)
    ])  # fmt: skip


def meaning_of(found: GrammarTest, model_id: str) -> str:
    """Count the relations in which the claim holds, and those in which the rule by kinds of words does as well."""
    testable, held, name = _testable(found), _held(found), escaped(model_id)
    if not testable:
        return f"No part of the claim can be tested on {name}."
    said = f"In none of {len(testable)} relations is a head of {name} {BEATEN}."
    if held:
        named = listed([SHORT[row.relation] for row in held])
        said = f"In **{len(held)} of {len(testable)}** relations, a head of {name} is {BEATEN}: {named}."
    beyond = [row for row in testable if is_beyond_distance(row)]
    if len(beyond) > len(held):
        others = f"in the other {len(beyond) - len(held)}" if held else "there"
        said += (
            f" Beside the distance alone, as in the paper, the claim holds in {len(beyond)}; {others}, it "
            "may be enough to know kinds of words."
        )
    return f"{said} {_compared(max(held or beyond, key=gain))}" if beyond else said


def is_beyond_distance(row: RelationRow) -> bool:
    """Return whether the head is clearly better than the best fixed distance."""
    return row.judged.effect.clear


def _compared(row: RelationRow) -> str:
    """Compare a relation's head with both rules, in cases out of a hundred."""
    ours, distance, kinds = (f"{100 * share:.0f}" for share in (row.accuracy, row.offset_accuracy, row.rule_accuracy))
    return (
        f"For {WORDS[row.relation]}, {head_name((row.layer, row.head))} is right in {ours} of 100 cases, the best "
        f"distance in {distance}, and the rule “{in_words(row.rule)}” in {kinds}."
    )


def line(row: RelationRow) -> ClaimLine:
    """Return a relation as a line of the table, in percent, with the twin's lift."""
    published = row.published
    here, low, high, twin = (100 * each for each in (row.accuracy, row.share_low, row.share_high, row.twin))
    distance, kinds = percent(row.offset_accuracy), percent(row.rule_accuracy)
    return ClaimLine(
        f"{row.relation}: {WORDS[row.relation]}, {DIRECTIONS[row.end]}",
        f"{percent(published.accuracy)} (distance {percent(published.offset)})",
        f"{row.name}: {with_ends(here, low, high, 1)}, distance {distance}, rule by kinds {kinds}",
        f"{number(twin, 1)}, lift {with_ends(row.twin_lift, row.twin_low, row.twin_high)}",
        row.count,
        row.judged,
        why_of(row),
    )


def percent(share: float) -> str:
    """Write a share in percent, with one decimal."""
    return number(100 * share, 1)


def why_of(row: RelationRow) -> str:
    """Give the reason why a relation cannot be tested, in a sentence; "" if it can, or if it has too few cases."""
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
    return ""


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
        "The best fixed distance always names the word at the distance that is right most often. The rule by kinds of "
        "words starts at the same word as the head, and names the nearest word to the left or right that has one of a "
        "few parts of speech, by the lab’s tagger: any of the five commonest among the words that are sought. If "
        "several such words follow each other, the rule may name the last one. "
        f"For each relation, the best head and both rules are chosen on half **A** ({a} sentences) and measured on "
        f"half **B** ({b} sentences from other documents). Then the head reads {len(gum().sentences):,} sentences of "
        "UD English **GUM**, which were not used for choosing. The rows *prep* and *all* of the paper’s table have no "
        "counterpart in this treebank."
    )
    if model.config.causal:
        told += (
            f"\n\nA head of {escaped(model.id)} only looks back, so it can start only from the later word of a "
            "relation. If the head cannot see the other word, the case counts as wrong. Both rules may look ahead."
        )
    return told


def subject_head(found: GrammarTest) -> Head | None:
    """Return the head that finds subjects, which a learner may know from lesson 6."""
    return next(((row.layer, row.head) for row in found.rows if row.relation == "nsubj"), None)


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
        "Each row shows the relation’s best head, two rules, the **untrained twin** (before training) and the paper. "
        "The line is the 95 % interval of the best head."
    ),
    meaning=meaning_of,
    claims=lambda found: [line(row) for row in found.rows],
    note=(
        "Shares are in percent, on half B of EWT. *Published* is bert-base on the Penn Treebank. *Why* judges the "
        "**lift**: of the gap between the best fixed distance and 100 %, the share that the head closes."
    ),
    head=subject_head,
    method=method,
    rule=(
        "The effect is the **lift**: of the gap between the best fixed distance and 100 %, the share that the head "
        f"closes. A relation counts only if its head is {BEATEN}. Intervals and p come from a bootstrap over "
        "documents; p is corrected by Holm for all relations. The paper has no rule by kinds of words. In the first "
        "version of this experiment, this rule was reported beside the verdict and did not enter it."
    ),
    data="sentences",
    cases="The sentences behind a number",
    show_cases=show_cases,
    code=(compared, find_cases, between_words),
    tables={"On GUM": lambda found: reproduced(map(line, found.elsewhere))},
)
