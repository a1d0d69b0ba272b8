"""The result of a round: shares with their intervals, sure but wrong answers, and the gain from the discussion."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from lab.evidence.intervals import Interval, wilson
from lab.questions.question import Question
from lab.rooms.schema import ANSWERS

# The least number of answers for a result to be shown: with fewer, people could tell who gave which answer.
FEWEST = 5
SURE = 3
NOBODY_KNOWS = -1  # the place of the right option of a question without one


@dataclass(frozen=True)
class Counts:
    """The answers of one round.

    Attributes
    ----------
    turn
        The round, from 1.
    options
        The number of answers for each option.
    answer
        The index of the right option, from 0; :data:`NOBODY_KNOWS` if there is none.
    sure
        For each option, the number of people who chose it and were sure.
    """

    turn: int
    options: tuple[int, ...]
    answer: int
    sure: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of answers."""
        return sum(self.options)

    @property
    def withheld(self) -> bool:
        """True if there are too few answers to show the result."""
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
        """The number of wrong answers from people who were sure."""
        return sum(self.sure) - self.sure[self.answer]

    @property
    def common_error(self) -> int | None:
        """The most frequent wrong option; None if nobody chose a wrong option, or two are equally frequent."""
        wrong = sorted(
            ((chosen, place) for place, chosen in enumerate(self.options) if place != self.answer), reverse=True
        )
        (most, place), *others = wrong
        return place if most and (not others or others[0][0] < most) else None


def counts(connection: Connection, question: int, turn: int, asked: Question) -> Counts:
    """The answers to a question, by its id, in one round."""
    chosen = select(ANSWERS.c.value, ANSWERS.c.confidence, func.count()).where(
        ANSWERS.c.question_id == question, ANSWERS.c.round == turn
    )
    all_, sure = [0] * len(asked.options), [0] * len(asked.options)
    for place, confidence, count in connection.execute(chosen.group_by(ANSWERS.c.value, ANSWERS.c.confidence)):
        all_[place] += count
        sure[place] += count * (confidence == SURE)
    right = NOBODY_KNOWS if asked.is_open else asked.answer
    return Counts(turn, tuple(all_), right, tuple(sure))
