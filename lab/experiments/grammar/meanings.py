"""The result of the experiment about grammar, in words chosen by its numbers; and the questions before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lab.course.heads import head_name
from lab.course.words import escaped
from lab.evidence.intervals import spread
from lab.evidence.treebank import halves
from lab.evidence.verdicts import HOLDS, Verdict
from lab.experiments.grammar.measure import GrammarTest, RelationRow, drawn_gains, fixed_offsets
from lab.experiments.grammar.word_kinds import LEFT, KindRule
from lab.questions.guesses import between
from lab.questions.question import Question, Right, open_question
from lab.text.tags.pipeline import spelled_out

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
_ASKED = ("det", "nsubj", "obj", "case")
_THIRDS = (1 / 3, 2 / 3)  # shares of the relations that separate the options of a question
_NEAR = 0.005  # two differences that are closer than this may look the same when rounded


def asks() -> tuple[Question, ...]:
    """Ask in how many relations a head beats the best fixed distance, and in which of four it gains most."""
    offsets = fixed_offsets()
    rule = _rule(offsets["nsubj"][0])
    rules = [f"{WORDS[relation]} (rule: {offsets[relation][1]:.0%})" for relation in _ASKED]
    return (
        open_question(
            "count",
            f"To name the verb of a subject, the best rule is “always {rule}”: it is right in "
            f"{offsets['nsubj'][1]:.0%} of cases. In how many relations is a head clearly better than the best such "
            "rule?",
            ("in a third of them or fewer", "in up to two thirds", "in more"),
        ),
        open_question("most", "In which of these four does the best head gain most over the rule?", tuple(rules)),
    )


def _rule(offset: int) -> str:
    """Name the place that an offset (head − dependent) picks, seen from the first word of the pair in :data:`WORDS`."""
    words = "next word" if abs(offset) == 1 else f"word {abs(offset)} places"
    if offset == -1:
        return "the word before"
    return f"the {words}" if offset == 1 else f"the {words} {'on' if offset > 0 else 'back'}"


def answers(found: GrammarTest) -> dict[str, Right]:
    """Answer the questions from the result; a question that the result does not decide has no answer."""
    given = {}
    testable, held = _testable(found), _held(found)
    unsure = sum(row.judged.verdict is Verdict.INCONCLUSIVE for row in testable)
    if testable:
        shares = len(held) / len(testable), (len(held) + unsure) / len(testable)
        if (option := between(shares, _THIRDS)) is not None:
            given["count"] = (
                option,
                f"a head is clearly better than the best rule in {len(held)} of {len(testable)} relations.",
            )
    rows = [row for row in found.rows if row.relation in _ASKED]
    order = sorted(rows, key=gain, reverse=True)
    if len(order) == len(_ASKED) and gain(order[0]) - gain(order[1]) >= _NEAR:
        first, second = order[:2]
        why = f"the head gains {_points(first)} points; next is {WORDS[second.relation]} with {_points(second)}."
        if _may_turn(found, first, second):
            why += " With other sentences, these two relations may change places."
        given["most"] = (_ASKED.index(first.relation), why)
    return given


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


def _may_turn(found: GrammarTest, first: RelationRow, second: RelationRow) -> bool:
    """Return whether 0 is in the 95 % interval of the difference, by a bootstrap over the documents of half B."""
    documents = halves()[1].documents
    one, other = (drawn_gains(found.cases[row.relation], row, documents) for row in (first, second))
    return bool(spread(one - other)[0] <= 0)


def meaning_of(found: GrammarTest, model_id: str) -> str:
    """Say for how many relations a head is found, in which relation it gains most, and whether other texts agree."""
    testable, held = _testable(found), _held(found)
    name = escaped(model_id)
    if not testable:
        return f"No part of the claim can be tested on {name}."
    if not held:
        return f"In none of {len(testable)} relations is a head of {name} clearly better than the best fixed distance."
    said = (
        f"In **{len(held)} of {len(testable)}** relations a head of {name} is clearly better than the best fixed "
        f"distance and any head before training. {_farthest(max(held, key=gain))}"
    )
    return f"{said} {beside_kinds(testable)}"


def beside_kinds(rows: Sequence[RelationRow]) -> str:
    """Count the relations in which a rule that knows only kinds of words is clearly better than the head."""
    worse = [row for row in rows if row.beyond_high < 0]
    said = f"But a rule that knows only kinds of words is clearly better in **{len(worse)} of {len(rows)}**"
    subject = next((row for row in worse if row.relation == "nsubj"), None)
    if subject is None or (subject.rule_end, subject.rule_side) != (1, LEFT):
        return f"{said}."
    rule = f"{100 * subject.rule_accuracy:.0f}"
    return f"{said}: the nearest {_kinds(subject.rule)} left of a verb is its subject in {rule} of 100."


def _elsewhere(found: GrammarTest) -> list[str]:
    """Say in how many of the relations that hold the same heads are again better on GUM, and beside the second rule."""
    held = _held(found)
    there = {row.relation: row.judged.verdict for row in found.elsewhere}
    also = sum(there.get(row.relation) in HOLDS for row in held)
    new = f"In texts not used for choosing, the same heads are again better in {also} of {len(held)} relations."
    above = sum(row.beyond_low > 0 for row in _testable(found))
    kinds = f"The head is clearly better than the rule that knows only kinds of words in {above}."
    return [*([new] if found.elsewhere and held else []), kinds]


def told(rule: KindRule) -> str:
    """Write a rule by kinds of words: "from the head, the nearest noun or pronoun to the left"."""
    start = "dependent" if rule.end == 0 else "head"
    return f"from the {start}, the nearest {_kinds(rule)} to the {'left' if rule.side == LEFT else 'right'}"


def _kinds(rule: KindRule) -> str:
    """Name the kinds of words at which a rule stops; a name of somebody is a noun here."""
    *most, last = [spelled_out(kind) for kind in rule.kinds if kind != "PROPN" or "NOUN" not in rule.kinds]
    return f"{', '.join(most)} or {last}" if most else last


def _farthest(row: RelationRow) -> str:
    """Describe the relation with the largest gain, in cases out of a hundred."""
    ours, rule = (f"{100 * share:.0f}" for share in (row.accuracy, row.offset_accuracy))
    return (
        f"The gain is largest for {WORDS[row.relation]}: {head_name((row.layer, row.head))} is right in {ours} of 100 "
        f"cases, the distance in {rule}."
    )


def verdict_of(found: GrammarTest) -> str:
    """Count the relations by verdict, the most frequent first."""
    counts = Counter(row.judged.verdict.value for row in found.rows)
    told = [f"**{verdict}** in {count}" for verdict, count in counts.most_common()]
    return f"Beside the paper’s effect: {', '.join(told)}."


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
        f"The largest lead is in {best.relation}, {WORDS[best.relation]}: head {best.name} names the right word in "
        f"{best.accuracy:.0%} of the cases, the best fixed distance in {best.offset_accuracy:.0%}. So the head leads "
        f"by {_points(best)} points."
    ]
    if smaller:
        these = "all of these relations" if len(smaller) == len(held) else f"{len(smaller)} of these relations"
        found.append(
            "The verdict uses the **lift**: how far the head gets on the way from the best fixed distance to 100%. In "
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
        f"For {', '.join(names)}, the interval is too wide for a verdict: we need more sentences, not a better model."
    ]


def untestable(found: GrammarTest) -> str:
    """List the relations that cannot be tested here, and why; "" if all can."""
    return "\n".join(
        f"- **Not testable here**: {row.relation}, {WORDS[row.relation]}. {row.judged.why}"
        for row in found.rows
        if row.judged.verdict is Verdict.NOT_TESTABLE
    )


def _bias(rows: Sequence[RelationRow]) -> str:
    """State the mean of A − B, which is positive if choosing the best head flattered its score."""
    bias = sum(row.selection_bias for row in rows) / len(rows)
    if bias > 0:
        return (
            f"On average, the heads score {100 * bias:.1f} points more on half A, where they were chosen, than on half "
            "B. That is **selection bias**: the best of many heads is partly lucky."
        )
    return (
        f"On average, the heads score {100 * -bias:.1f} points less on half A, where they were chosen, than on half B: "
        "there is no visible bias here from choosing the best heads."
    )
