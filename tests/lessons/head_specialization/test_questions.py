"""The right answers of the lesson."""

from __future__ import annotations

import pytest

from lab.lessons.head_specialization import does_it_matter, grammar, named_patterns, radar
from lab.lessons.head_specialization.view import kind_of
from lab.questions.asking import Asking
from lab.questions.question import Question

# What the numbers behind each answer are is tested in test_said.py.
RIGHT = {
    radar.rim: "Of what goes to words, no other head of the layer gives names more",
    radar.share_or_preference: "Names",
    named_patterns.by_place: "At the token that now has the place before",
    grammar.beats_kinds: "The rule",
    grammar.same_as_distance: "The head may only look at the next word",
    does_it_matter.one_decides: "Without one of them",
    does_it_matter.what_shows_need: "The model’s words change without it",
}


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


@pytest.mark.parametrize("asking", RIGHT, ids=lambda asking: asking.make.__name__)
def test_the_right_answer(asking: Asking) -> None:
    assert asking.always and right(asking.make()) == RIGHT[asking]


def test_a_share_is_told_from_a_preference() -> None:
    """By hand: 0.40 of 0.50 is 0.8 times, 0.20 of 0.05 is 4 times."""
    assert pytest.approx((0.8, 4)) == (0.40 / 0.50, 0.20 / 0.05)


def test_a_rule_without_grammar_is_as_good() -> None:
    """Table 1 of Clark et al. 2019, "nn": 70.4 by head 4-10, 70.2 by the offset of 1."""
    question = grammar.same_as_distance.make()
    assert question is not None and "70.4 of 100" in question.prompt and "in 70.2" in question.prompt


def test_kinds() -> None:
    kinds = [kind_of(tag, False) for tag in ("DET", "PROPN", "PUNCT", "SYM", None)]
    assert kinds == ["Function words", "Content words", "Punctuation", "Other", "Other"]
    assert kind_of("DET", True) == "Special tokens"
