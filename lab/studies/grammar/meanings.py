"""What the result of the experiment about grammar says, in words that its numbers choose."""

from __future__ import annotations

from collections.abc import Sequence

from lab.course.guesses import Answer, Ask
from lab.course.words import escaped
from lab.experiments.relations import GrammarTest, Row, fixed_offsets
from lab.experiments.verdicts import Verdict

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
_ASKED = ("det", "nsubj", "obj", "case")
_CLEAR = (Verdict.SAME, Verdict.SMALLER)
_MARGIN = 0.02  # between the two largest lifts, so that a question about the largest is fair


def asks() -> tuple[Ask, ...]:
    """What is predicted: whether a head beats the offset in four relations, and where by most."""
    offsets = fixed_offsets()
    beats = [
        Ask(
            relation,
            f"**{relation}**, {WORDS[relation]}. The rule “{_rule(offsets[relation][0])}” is right in "
            f"{offsets[relation][1]:.0%}. Is some head clearly better?",
            ("yes", "no"),
        )
        for relation in _ASKED
    ]
    return (*beats, Ask("most", "In which of these four is the best head farthest above the rule?", _ASKED))


def _rule(offset: int) -> str:
    """Where a fixed offset, head − dependent, looks from the first of the two words that :data:`WORDS` names."""
    words = "next word" if abs(offset) == 1 else f"word {abs(offset)} places"
    if offset == -1:
        return "the word before"
    return f"the {words}" if offset == 1 else f"the {words} {'on' if offset > 0 else 'back'}"


def answers(found: GrammarTest) -> dict[str, Answer]:
    """The same by the result; a question that it does not decide has no answer."""
    rows = {row.relation: row for row in found.rows if row.relation in _ASKED}
    decided = {name: row for name, row in rows.items() if row.judged.verdict is not Verdict.NOT_TESTABLE}
    given = {
        name: Answer(
            0 if row.judged.verdict in _CLEAR else 1,
            f"Head {row.name} names {row.accuracy:.0%} right, the rule {row.offset_accuracy:.0%}.",
        )
        for name, row in decided.items()
    }
    order = sorted(rows.values(), key=lambda row: -row.lift)
    if len(order) == len(_ASKED) and order[0].lift - order[1].lift >= _MARGIN:
        why = f"Of what the rule leaves, head {order[0].name} names {order[0].lift:.0%}, a lift of {order[0].lift:.2f}."
        given["most"] = Answer(_ASKED.index(order[0].relation), why)
    return given


def meaning_of(found: GrammarTest, model_id: str) -> str:
    """How many relations came out how, the best one, and what choosing flattered."""
    testable = [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]
    clear = [row for row in testable if row.judged.verdict in _CLEAR]
    if not testable:
        return f"Nothing of the claim can be tested on {escaped(model_id)}."
    first = (
        f"In **{len(clear)} of {len(testable)}** relations that can be tested, a head of {escaped(model_id)} is "
        "clearly above the best fixed offset and above the untrained twin."
    )
    return " ".join([first, *_sizes(clear), _bias(found.rows)])


def _sizes(clear: Sequence[Row]) -> list[str]:
    if not clear:
        return ["So the claim does not hold for this model on these sentences."]
    best, smaller = max(clear, key=lambda row: row.lift), [r for r in clear if r.judged.verdict is Verdict.SMALLER]
    found = [
        f"Farthest above is {best.relation}, {WORDS[best.relation]}: head {best.name} names {best.accuracy:.0%} right, "
        f"the offset {best.offset_accuracy:.0%}."
    ]
    if smaller:
        these = "all of them" if len(smaller) == len(clear) else f"{len(smaller)} of them"
        found.append(f"In {these} the lift is clearly smaller than the paper’s.")
    return found


def _bias(rows: Sequence[Row]) -> str:
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
