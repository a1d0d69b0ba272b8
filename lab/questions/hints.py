"""Hints after a first wrong answer: where to look, or what to think of.

A question of a step that is one file has its hint; the hints of the other lessons are in their records.
"""

from __future__ import annotations

from lab.course.pages import LESSONS
from lab.questions.question import Question

HINTS = {id: hint for lesson in LESSONS for id, hint in lesson.hints.items()}


def hint_of(question: Question) -> str | None:
    """The hint for a question; None if it has only two options, so that nothing is left to choose."""
    if len(question.options) < 3:
        return None
    if question.hint:
        return question.hint
    parts = question.id.split("-")
    beginnings = ("-".join(parts[:count]) + "-" for count in range(len(parts) - 1, 0, -1))
    return next((HINTS[each] for each in (question.id, *beginnings) if each in HINTS), None)
