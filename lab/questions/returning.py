"""Questions of a lesson that return later, on another sentence: a question asked again after a while is remembered.

The questions come from the lesson's own functions, on other tensors (Roediger & Karpicke 2006, "Test-enhanced
learning").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.analysis.heads.attention import AttentionRow, attention_row
from lab.analysis.heads.first_look import heaviest_key
from lab.course.sentences.looks import look
from lab.questions.question import Question

if TYPE_CHECKING:
    from lab.models.layer_trace import LayerTrace
    from lab.models.trace import Trace


@dataclass(frozen=True)
class Spot:
    """A run, and the place in the run that questions are about: layer, head, query and key, all from 0."""

    trace: Trace
    layer: int
    head: int
    query: int
    key: int

    @classmethod
    def of(cls, trace: Trace) -> Spot:
        """The spot of the row at which the lab looks first."""
        found = look(trace)
        layer, head, query = found.layer, found.head, found.query
        return cls(trace, layer, head, query, heaviest_key(trace, layer, head, query))

    @property
    def traced(self) -> LayerTrace:
        return self.trace.layer(self.layer)

    @property
    def row(self) -> AttentionRow:
        """The row of the query, from its vectors to its context."""
        return attention_row(self.traced, self.head, self.query)


# Makes the questions that a lesson asks again, the best first, with None for each that the run does not decide.
Returning = Callable[[Spot], Iterable[Question | None]]


def later(ask: Returning, by: int) -> Returning:
    """Return what asks the same questions in turn, beginning ``by`` questions later: each page asks another one first.

    Otherwise every later lesson would begin with the first question, about another text.
    """

    def ask_later(spot: Spot) -> list[Question]:
        asked = [question for question in ask(spot) if question is not None]
        first = by % len(asked) if asked else 0
        return asked[first:] + asked[:first]

    return ask_later


# The most questions that return at the end of a lesson.
MOST = 2


def returning(earlier: Mapping[str, Returning], spot: Spot, known: Callable[[Question], bool]) -> tuple[Question, ...]:
    """One question from each of the first lessons in ``earlier`` (by id) that have a question; :data:`MOST` at most.

    A question that is not ``known`` is preferred.
    """
    found: list[Question] = []
    for lesson, ask in earlier.items():
        asked = offered({lesson: ask}, spot)
        if asked and len(found) < MOST:
            found.append(next((question for question in asked if not known(question)), asked[0]))
    return tuple(found)


def offered(earlier: Mapping[str, Returning], spot: Spot) -> list[Question]:
    """Every question that lessons of ``earlier`` have about a run."""
    return [
        replace(question, lesson=lesson)
        for lesson, ask in earlier.items()
        for question in ask(spot)
        if question is not None
    ]
