"""What helps after a first wrong answer: where to look, or what to think of. The records of the lessons have it."""

from __future__ import annotations

from lab.course.pages import LESSONS
from lab.questions.question import Question

HINTS = {id: hint for lesson in LESSONS for id, hint in lesson.hints.items()}


def hint_of(question: Question) -> str | None:
    """The hint for a question; None where there is nothing to choose from any more, as there are two options."""
    if len(question.options) < 3:
        return None
    id = question.id.rpartition(".")[2]  # before a point stands the lesson of a question that returns
    parts = id.split("-")
    beginnings = ("-".join(parts[:count]) + "-" for count in range(len(parts) - 1, 0, -1))
    return next((HINTS[each] for each in (id, *beginnings) if each in HINTS), None)
