"""A number in a sentence: the minus of mathematics, and none before a zero; a learner's hyphen stays."""

from __future__ import annotations

import pytest

from lab.course.words import signed, with_minus


@pytest.mark.parametrize(
    ("value", "digits", "plus", "expected"),
    [
        (-0.004, 2, False, "0.00"),
        (-0.006, 2, False, "−0.01"),
        (1234.5, 1, False, "1,234.5"),
        (-0.0, 3, True, "+0.000"),
        (0.25, 2, True, "+0.25"),
        (-3.14159, 3, True, "−3.142"),
    ],
)
def test_signed(value: float, digits: int, plus: bool, expected: str) -> None:
    assert signed(value, digits, plus=plus) == expected


def test_numbers_get_a_minus_and_tokens_keep_their_hyphen() -> None:
    text = "-0.5 · (-2) = 1, “\u2068-5\u2069” (3), well-9, 10-11, 2e-07, bias -0.069"
    assert with_minus(text) == "−0.5 · (−2) = 1, “\u2068-5\u2069” (3), well-9, 10-11, 2e-07, bias −0.069"
