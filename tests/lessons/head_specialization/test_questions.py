"""What the answers of the lesson rest on, and the questions about a class's own sentence."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.lessons.head_specialization import grammar
from lab.lessons.head_specialization.named_patterns import fits_best
from lab.lessons.head_specialization.radar import most_of
from lab.lessons.head_specialization.view import kind_of
from lab.questions.question import Question
from tests.by_id import by_id

NEXT, SELF = by_id(PATTERNS, "next_token"), by_id(SPECIALIZATIONS, "self")


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


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


def test_looks_most() -> None:
    assert right(most_of(1, SELF, np.array([0.1, 0.5, 0.3]))) == "Head 2"
    assert most_of(1, SELF, np.array([0.1, 0.5, 0.48])) is None
    assert most_of(1, SELF, np.array([np.nan, np.nan])) is None


def test_best_head() -> None:
    scores = np.array([[0.1, 0.2], [0.9, 0.3]])
    assert right(fits_best(NEXT, scores)) == "Layer 2, head 1"
    assert fits_best(NEXT, scores * np.nan) is None
