"""A number in a sentence: the minus of mathematics, and none before a zero; a learner's hyphen stays."""

from __future__ import annotations

import re

import pytest

from lab.course.words import escaped, percent, quoted, signed, stopped, with_minus


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


@pytest.mark.parametrize(
    ("probability", "said"),
    [
        (0.0, "0%"),
        (2.1e-05, "<1%"),
        (0.00999, "<1%"),
        (0.01, "1%"),
        (0.374, "37%"),
        (0.994, "99%"),
        (0.9951, ">99%"),
        (1.0, "100%"),
    ],
)
def test_a_percentage_is_whole_and_never_0_or_100_by_rounding(probability: float, said: str) -> None:
    assert percent(probability) == said


def test_a_quotation_that_ends_with_a_stop_gets_no_second_one() -> None:
    assert stopped(f"Asked about {quoted('He ran.')}").endswith("\\.\u2069”")
    assert stopped(f"Asked about {quoted('He ran')}").endswith("ran\u2069”.")
    assert stopped(f"Asked about {quoted('He ran.')}, head 3").endswith("head 3.")


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "$x$ :red[a] **b** `c`", "[a](http://b)", ":material/x:"]
)
def test_tokens_cannot_become_markup(hostile: str) -> None:
    assert re.sub(r"\\(.)", r"\1", escaped(hostile)) == hostile
    assert not re.search(r"(?<!\\)[<>$*`\[\]:_]", escaped(hostile))
