"""Questions of the same kinds before a lesson and after it, each time about another sentence.

Both tests use the questions that a lesson asks again later (:mod:`lab.questions.returning`), so that nobody can answer
the second test from memory of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.evidence.gain import normalised_gain
from lab.questions.question import Question

if TYPE_CHECKING:
    from lab.questions.returning import Returning, Spot

# The number of questions in a test, which is small enough that learners take the test.
COUNT = 2


@dataclass(frozen=True)
class LessonTest:
    """Questions about one run."""

    spot: Spot
    questions: tuple[Question, ...]


def two_tests(ask: Returning, spots: Iterable[Spot]) -> tuple[LessonTest, LessonTest] | None:
    """The tests before and after a lesson, from the first two runs that give different forms of the same questions.

    None if there are no two such runs. No more ``spots`` are read than needed.
    """
    known: list[tuple[Spot, Mapping[str, Question]]] = []
    for spot in spots:
        asked = {question.id: question for question in ask(spot) if question is not None}
        for earlier, questions in known:
            ids = [name for name in questions if name in asked and _differ(questions[name], asked[name])][:COUNT]
            if len(ids) == COUNT:
                first, second = (tuple(each[name] for name in ids) for each in (questions, asked))
                return LessonTest(earlier, first), LessonTest(spot, second)
        known.append((spot, asked))
    return None


def _differ(one: Question, other: Question) -> bool:
    """Return whether knowing the right answer to one question does not help with the other."""
    return one.options[one.answer].text != other.options[other.answer].text or one.prompt != other.prompt


@dataclass(frozen=True)
class BothTests:
    """The results of both tests of a lesson: for each question, by its id, whether the answer was right.

    ``after`` is None until the second test, which has the same questions, was taken.
    """

    before: Mapping[str, bool]
    after: Mapping[str, bool] | None = None


@dataclass(frozen=True)
class Gain:
    """The number of questions ``asked``, and of right answers before and after; :attr:`g` is Hake's normalised gain."""

    asked: int
    before: int
    after: int

    @property
    def g(self) -> float | None:
        """Hake's gain; None if no answer was wrong before, or there were no questions."""
        return normalised_gain(self.before / self.asked, self.after / self.asked) if self.asked else None


def gain(taken: Iterable[BothTests]) -> Gain:
    """The gain over all lessons in which both tests were taken."""
    both = [(each.before, each.after) for each in taken if each.after is not None]
    return Gain(
        sum(len(before) for before, _ in both),
        sum(sum(before.values()) for before, _ in both),
        sum(sum(after.values()) for _, after in both),
    )
