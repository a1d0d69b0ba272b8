"""How a round came out: shares with their intervals, who was sure and wrong, and what the discussion gained."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from lab.evidence.intervals import Interval, wilson
from lab.rooms.questions import Posed
from lab.rooms.schema import ANSWERS

# Of fewer answers nothing is shown: one could tell who gave which.
FEWEST = 5
SURE = 3


@dataclass(frozen=True)
class Counts:
    """The answers of one round.

    Attributes
    ----------
    turn
        The round, from 1.
    options
        How often each option was chosen, or each place, or how many answers each bin of a number has.
    answer
        The right one of them, from 0.
    sure
        How often each was chosen by somebody who was sure.
    """

    turn: int
    options: tuple[int, ...]
    answer: int
    sure: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many answers there are."""
        return sum(self.options)

    @property
    def withheld(self) -> bool:
        """Whether there are too few answers to show how they came out."""
        return self.count < FEWEST

    @property
    def right(self) -> float:
        """The share of right answers."""
        return self.options[self.answer] / self.count

    @property
    def interval(self) -> Interval:
        """The 95 % interval of :attr:`right` (Wilson)."""
        return wilson(self.options[self.answer], self.count)

    @property
    def sure_and_wrong(self) -> int:
        """How many were sure of a wrong option."""
        return sum(self.sure) - self.sure[self.answer]

    @property
    def common_error(self) -> int | None:
        """The wrong option that was chosen most; None where none was, or where two were as often."""
        wrong = sorted(
            ((chosen, place) for place, chosen in enumerate(self.options) if place != self.answer), reverse=True
        )
        (most, place), *others = wrong
        return place if most and (not others or others[0][0] < most) else None


def counts(connection: Connection, question: int, turn: int, asked: Posed) -> Counts:
    """The answers to a question, by its id, in one round."""
    chosen = select(ANSWERS.c.value, ANSWERS.c.confidence, func.count()).where(
        ANSWERS.c.question_id == question, ANSWERS.c.round == turn
    )
    all_, sure = [0] * len(asked.bins), [0] * len(asked.bins)
    for value, confidence, count in connection.execute(chosen.group_by(ANSWERS.c.value, ANSWERS.c.confidence)):
        place = asked.bin(value)
        all_[place] += count
        sure[place] += count * (confidence == SURE)
    return Counts(turn, tuple(all_), asked.right, tuple(sure))
