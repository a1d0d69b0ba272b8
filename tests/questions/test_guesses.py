"""A prediction's score, beside the odds of guessing counted out."""

from __future__ import annotations

from itertools import product

import pytest

from lab.questions.guesses import score
from lab.questions.question import open_question

ASKS = (
    open_question("a", "?", ("yes", "no")),
    open_question("b", "?", ("yes", "no")),
    open_question("c", "?", ("x", "y", "z")),
)
ANSWERS = {"a": (0, "."), "b": (1, "."), "c": (2, ".")}


@pytest.mark.parametrize("choice", list(product(range(2), range(2), range(3))))
def test_the_odds_are_those_of_all_ways_to_guess(choice: tuple[int, int, int]) -> None:
    found = score(ASKS, dict(zip("abc", choice, strict=True)), ANSWERS)
    right = [sum(x == y for x, y in zip(guess, (0, 1, 2), strict=True)) for guess in product(*map(range, (2, 2, 3)))]
    mine = sum(x == y for x, y in zip(choice, (0, 1, 2), strict=True))
    assert (found.right, found.count) == (mine, 3)
    assert found.expected == pytest.approx(sum(right) / len(right))


def test_what_was_skipped_or_is_undecided_does_not_count() -> None:
    found = score(ASKS, {"a": 0, "c": 2}, {"a": (0, "."), "b": (1, ".")})
    assert (found.right, found.count, found.expected) == (1, 1, 0.5)
    assert score(ASKS, {}, ANSWERS).count == 0
