"""A bet: what it says of each choice, and the gap that an interval lies in."""

from __future__ import annotations

import pytest

from lab.questions.bets import Belief, Bet, between

BET = Bet(
    "b",
    "What happens?",
    (
        Belief("Nothing", "Nothing ever happens.", "the line would be flat"),
        Belief("It grows", "Things grow.", "the line would rise"),
        Belief("It falls", "Things fall.", "the line would fall"),
    ),
)


def test_its_question_is_open_and_has_the_beliefs_as_options() -> None:
    assert BET.question.is_open and [option.text for option in BET.question.options] == [
        "Nothing",
        "It grows",
        "It falls",
    ]


@pytest.mark.parametrize("right", range(3))
@pytest.mark.parametrize("choice", [None, 0, 1, 2])
def test_an_answer_says_what_the_other_belief_would_have_led_to(right: int, choice: int | None) -> None:
    said = BET.told((right, "Measured."), choice)
    assert said.startswith(f"**{BET.beliefs[right].text}.** Measured.")
    others = [belief.finding for belief in BET.beliefs if belief.finding in said]
    if choice is None:
        assert others == []
    elif choice != right:
        assert others == [BET.beliefs[choice].finding] and "You expected" in said
    else:
        assert others == [BET.beliefs[1 if right == 0 else 0].finding] and "You expected" not in said


@pytest.mark.parametrize("count", [1, 4])
def test_it_is_between_two_or_three(count: int) -> None:
    with pytest.raises(ValueError, match="two or three beliefs"):
        Bet("b", "?", (BET.beliefs[0],) * count)


def test_an_interval_that_reaches_over_an_edge_lies_in_no_gap() -> None:
    assert [between(each, (0.25, 0.5)) for each in ((0.1, 0.2), (0.3, 0.4), (0.6, 0.7), (0.2, 0.3), (0.4, 0.6))] == [
        0, 1, 2, None, None,
    ]  # fmt: skip
