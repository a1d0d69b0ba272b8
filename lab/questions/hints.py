"""Hints after a first wrong answer: where to look, or what to think of. The hints are in the records of the lessons."""

from __future__ import annotations

from lab.course.pages import LESSONS
from lab.questions.question import Question

HINTS = {id: hint for lesson in LESSONS for id, hint in lesson.hints.items()}


def hint_of(question: Question) -> str | None:
    """The hint for a question; None if it has only two options, so that nothing is left to choose."""
    if len(question.options) < 3:
        return None
    id = question.id.rpartition(".")[2]  # a question that returns has its lesson before a point
    parts = id.split("-")
    beginnings = ("-".join(parts[:count]) + "-" for count in range(len(parts) - 1, 0, -1))
    return next((HINTS[each] for each in (id, *beginnings) if each in HINTS), None)
