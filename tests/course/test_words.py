"""A number in a sentence: the minus of mathematics, and none before a zero."""

from __future__ import annotations

import pytest

from lab.course.words import signed


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
