"""What the result of the experiment about grammar says, in words that its numbers choose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lab.course.guesses import Answer, Ask
from lab.course.words import escaped
from lab.experiments.intervals import draws, spread
from lab.experiments.relations import GrammarTest, Row, fixed_offsets
from lab.experiments.treebank import halves
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
_CLEAR = (Verdict.SAME, Verdict.SMALLER)
_NEAR = 0.005  # two differences that are nearer than this may read alike


def asks() -> tuple[Ask, ...]:
    """What is predicted: whether a head beats the best fixed distance in four relations, and where by most points."""
    offsets = fixed_offsets()
    beats = [
        Ask(
            relation,
            f"**{relation}**, {WORDS[relation]}. The best fixed distance is “{_rule(offsets[relation][0])}”, right in "
            f"{offsets[relation][1]:.0%}. Is some head clearly better?",
            ("yes", "no"),
        )
        for relation in _ASKED
    ]
    most = "In which of these four does the best head have the most points above the best fixed distance?"
    return (*beats, Ask("most", most, _ASKED))


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
        given["most"] = Answer(_ASKED.index(first.relation), why)
    return given


def gain(row: Row) -> float:
    """By how much the best head is above the best fixed distance: the difference of two shares of half B."""
    return row.accuracy - row.offset_accuracy


def _points(row: Row) -> str:
    return f"{100 * gain(row):.1f}"


def _beside(row: Row) -> str:
    return f"head {row.name} names {row.accuracy:.0%} right, the best fixed distance {row.offset_accuracy:.0%}"


def _may_turn(found: GrammarTest, first: Row, second: Row) -> bool:
    """Whether 0 lies in the 95 % interval between the two gains, by a bootstrap over the sentences of half B."""
    between = _drawn_gains(found, first) - _drawn_gains(found, second)
    return bool(spread(between)[0] <= 0)


def _drawn_gains(found: GrammarTest, row: Row) -> NDArray[np.float64]:
    """The gain of a relation in each drawn set of sentences, (draws,)."""
    weights = _weights()
    sentence, dependent, head, named = found.cases[row.relation].T
    sought = head if row.end == 0 else dependent
    above = (named == sought).astype(float) - (head - dependent == row.offset)
    each, count = (np.bincount(sentence, by, minlength=weights.shape[1]) for by in (above, np.ones(len(above))))
    return np.asarray((weights @ each) / (weights @ count))


@cache
def _weights() -> NDArray[np.float64]:
    return draws(len(halves()[1]))


def meaning_of(found: GrammarTest, model_id: str) -> str:
    """How many relations came out how, the best one, and what choosing flattered."""
    testable = [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]
    clear = [row for row in testable if row.judged.verdict in _CLEAR]
    if not testable:
        return f"Nothing of the claim can be tested on {escaped(model_id)}."
    first = (
        f"In **{len(clear)} of {len(testable)}** relations that can be tested, a head of {escaped(model_id)} is "
        "clearly above the best fixed distance and above the untrained twin."
    )
    return " ".join([first, *_sizes(clear), *_not_reproduced(testable, model_id), _bias(found.rows)])


def _sizes(clear: Sequence[Row]) -> list[str]:
    if not clear:
        return ["So the claim does not hold for this model on these sentences."]
    best, smaller = max(clear, key=gain), [r for r in clear if r.judged.verdict is Verdict.SMALLER]
    found = [
        f"Farthest above in points is {best.relation}, {WORDS[best.relation]}: {_beside(best)}. So the head is "
        f"{_points(best)} points above."
    ]
    if smaller:
        these = "all of them" if len(smaller) == len(clear) else f"{len(smaller)} of them"
        found.append(
            "The verdict goes by the **lift**: how much of the way from the best fixed distance to 100% the head "
            f"goes. In {these} it is clearly smaller than the paper’s."
        )
    return found


def _not_reproduced(testable: Sequence[Row], model_id: str) -> list[str]:
    """Whose finding it is where the claim does not come out."""
    count = sum(row.judged.verdict is Verdict.NOT_REPRODUCED for row in testable)
    if not count:
        return []
    are = "One relation is" if count == 1 else f"{count} relations are"
    return [
        f"{are} not reproduced. That is a finding about {escaped(model_id)} on these sentences. The paper read others, "
        "with BERT base, and this does not refute it."
    ]


def untestable(found: GrammarTest) -> str:
    """Which relations cannot be tested here, and why, as a list; "" where all can."""
    return "\n".join(
        f"- **Not testable here**: {row.relation}, {WORDS[row.relation]}. {row.judged.why}"
        for row in found.rows
        if row.judged.verdict is Verdict.NOT_TESTABLE
    )


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
