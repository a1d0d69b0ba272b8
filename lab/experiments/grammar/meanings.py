"""What the result of the experiment about grammar says, in words that its numbers choose."""

from __future__ import annotations

from collections.abc import Sequence

from lab.course.words import escaped
from lab.evidence.grammar.replication import GrammarTest, RelationRow, drawn_gains, fixed_offsets
from lab.evidence.intervals import spread
from lab.evidence.treebank import halves
from lab.evidence.verdicts import HOLDS, Verdict
from lab.questions.question import Question, Right, open_question

# The two words of each relation, the dependent first.
WORDS = {
    "case": "a preposition and its noun",
    "det": "a determiner and its noun",
    "nsubj": "a subject and its verb",
    "obj": "an object and its verb",
    "amod": "an adjective and its noun",
    "advmod": "an adverb and what it modifies",
    "compound": "two nouns in a row, as in *dog food*",
    "mark": "a conjunction, or *to*, and the verb of its clause",
    "aux": "an auxiliary and its verb",
    "cop": "*is* and what something is",
    "nmod:poss": "an owner and what is owned",
    "ccomp": "the verb of a clause and the verb that it is about",
    "aux:pass": "the auxiliary of a passive and its verb",
    "compound:prt": "a particle and its verb, as in *give up*",
}
# The dependent of each in a word or two, for an axis.
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
# Verdicts that answer neither yes nor no.
_OPEN = (Verdict.NOT_TESTABLE, Verdict.INCONCLUSIVE)
_NEAR = 0.005  # two differences that are nearer than this may read alike


def asks() -> tuple[Question, ...]:
    """What is predicted: whether a head beats the best fixed distance in four relations, and where by most points."""
    offsets = fixed_offsets()
    beats = [
        open_question(
            relation,
            f"**{relation}**, {WORDS[relation]}. The best fixed distance is “{_rule(offsets[relation][0])}”, right in "
            f"{offsets[relation][1]:.0%}. Is some head clearly better?",
            ("yes", "no"),
        )
        for relation in _ASKED
    ]
    most = "In which of these four does the best head have the most points above the best fixed distance?"
    return (*beats, open_question("most", most, _ASKED))


def _rule(offset: int) -> str:
    """Where a fixed offset, head − dependent, looks from the first of the two words that :data:`WORDS` names."""
    words = "next word" if abs(offset) == 1 else f"word {abs(offset)} places"
    if offset == -1:
        return "the word before"
    return f"the {words}" if offset == 1 else f"the {words} {'on' if offset > 0 else 'back'}"


def answers(found: GrammarTest) -> dict[str, Right]:
    """The answers by the result; a question that it does not decide has none."""
    rows = {row.relation: row for row in found.rows if row.relation in _ASKED}
    decided = {name: row for name, row in rows.items() if row.judged.verdict not in _OPEN}
    given = {
        name: (
            0 if row.judged.verdict in HOLDS else 1,
            f"{_beside(row)[0].upper()}{_beside(row)[1:]}.",
        )
        for name, row in decided.items()
    }
    order = sorted(rows.values(), key=gain, reverse=True)
    if len(order) == len(_ASKED) and gain(order[0]) - gain(order[1]) >= _NEAR:
        first, second = order[:2]
        why = f"Head {first.name} is {_points(first)} points above; next is {second.relation} with {_points(second)}."
        if _may_turn(found, first, second):
            why += " With other sentences, the order of these two may turn."
        given["most"] = (_ASKED.index(first.relation), why)
    return given


def gain(row: RelationRow) -> float:
    """By how much the best head is above the best fixed distance: the difference of two shares of half B."""
    return row.accuracy - row.offset_accuracy


def _points(row: RelationRow) -> str:
    return f"{100 * gain(row):.1f}"


def _beside(row: RelationRow) -> str:
    return f"head {row.name} names {row.accuracy:.0%} right, the best fixed distance {row.offset_accuracy:.0%}"


def _may_turn(found: GrammarTest, first: RelationRow, second: RelationRow) -> bool:
    """Whether 0 lies in the 95 % interval between the two gains, by a bootstrap over the documents of half B."""
    documents = halves()[1].documents
    one, other = (drawn_gains(found.cases[row.relation], row, documents) for row in (first, second))
    return bool(spread(one - other)[0] <= 0)


def meaning_of(found: GrammarTest, model_id: str) -> str:
    """In how many relations a head is found, and whether another treebank agrees."""
    testable = [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]
    held = [row for row in testable if row.judged.verdict in HOLDS]
    name = escaped(model_id)
    if not testable:
        return f"Nothing of the claim can be tested on {name}."
    if not held:
        return f"In none of {len(testable)} relations is a head of {name} clearly above the best fixed distance."
    there = {row.relation: row.judged.verdict for row in found.elsewhere}
    also = sum(there.get(row.relation) in HOLDS for row in held)
    again = f" On GUM, on which nothing was chosen, the same heads are so in {also} of {len(held)}."
    again = again if found.elsewhere else ""
    return (
        f"In **{len(held)} of {len(testable)}** relations a head of {name} is clearly above the best fixed distance, "
        f"and above the untrained twin.{again}"
    )


def in_full(found: GrammarTest, model_id: str) -> str:
    """The farthest relation, the sizes, what is refuted and what is left open, and what choosing flattered."""
    testable = [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]
    held = [row for row in testable if row.judged.verdict in HOLDS]
    return " ".join([*_sizes(held), *_without(testable, model_id), *_open(testable), _bias(found.rows)])


def _sizes(held: Sequence[RelationRow]) -> list[str]:
    if not held:
        return []
    best, smaller = max(held, key=gain), [r for r in held if r.judged.verdict is Verdict.SMALLER]
    found = [
        f"Farthest above in points is {best.relation}, {WORDS[best.relation]}: {_beside(best)}. So the head is "
        f"{_points(best)} points above."
    ]
    if smaller:
        these = "all of them" if len(smaller) == len(held) else f"{len(smaller)} of them"
        found.append(
            "The verdict goes by the **lift**: the share of the way from the best fixed distance to 100% that the head "
            f"goes. In {these} it is clearly smaller than the paper’s."
        )
    return found


def _without(testable: Sequence[RelationRow], model_id: str) -> list[str]:
    """The relations in which the claim does not come out, and whose finding that is."""
    count = sum(row.judged.verdict in (Verdict.NOT_REPRODUCED, Verdict.OPPOSITE) for row in testable)
    untrained = sum(row.judged.verdict is Verdict.ALSO_UNTRAINED for row in testable)
    said = []
    if count:
        are = "One relation is" if count == 1 else f"{count} relations are"
        said.append(
            f"{are} not reproduced. That is a finding about {escaped(model_id)} on these sentences. The paper read "
            "others, with BERT base, and this does not refute it."
        )
    if untrained:
        said.append(f"In {untrained} the untrained twin does about as well.")
    return said


def _open(testable: Sequence[RelationRow]) -> list[str]:
    names = [row.relation for row in testable if row.judged.verdict is Verdict.INCONCLUSIVE]
    if not names:
        return []
    return [
        f"{', '.join(names)}: the interval is too wide for a verdict. More sentences would decide, not a better model."
    ]


def untestable(found: GrammarTest) -> str:
    """Which relations cannot be tested here, and why, as a list; "" where all can."""
    return "\n".join(
        f"- **Not testable here**: {row.relation}, {WORDS[row.relation]}. {row.judged.why}"
        for row in found.rows
        if row.judged.verdict is Verdict.NOT_TESTABLE
    )


def _bias(rows: Sequence[RelationRow]) -> str:
    """The mean of A − B: positive where choosing the best flattered it."""
    bias = sum(row.selection_bias for row in rows) / len(rows)
    if bias > 0:
        return (
            f"On half A, where they were chosen, the heads score {100 * bias:.1f} points more on average. That is "
            "**selection bias**: the best of many is best by luck, too."
        )
    return (
        f"On half A, where they were chosen, the heads score {100 * -bias:.1f} points less on average: here choosing "
        "flattered nothing that one could see."
    )
