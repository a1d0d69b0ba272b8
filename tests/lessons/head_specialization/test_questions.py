"""What the answers of the lesson rest on."""

from __future__ import annotations

import pytest

from lab.lessons.head_specialization import grammar
from lab.lessons.head_specialization.view import kind_of


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
