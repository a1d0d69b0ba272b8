"""A question as a room keeps it: its JSON, with the answer."""

from __future__ import annotations

import json
from dataclasses import asdict

from pydantic import TypeAdapter

from lab.course.words import escaped
from lab.questions.question import Question, open_question
from lab.rooms.one_form import are_told_apart, one_line

_QUESTION = TypeAdapter(Question)
TEACHES = "class-teaches"  # the id of the question in which everybody writes a sentence


def class_teaches(first: str, second: str) -> Question:
    """Ask everybody for one sentence with one of two labels; the labels are the teacher's plain text.

    Raises ValueError for labels that nobody can tell apart.
    """
    typed = [one_line(each) for each in (first, second)]
    if not are_told_apart(typed):
        raise ValueError("The class needs two different labels.")
    labels = list(map(escaped, typed))
    return open_question(
        TEACHES, f"Write a sentence for one of these labels: **{labels[0]}** or **{labels[1]}**.", labels
    )


def written(question: Question) -> str:
    """Write a question as JSON."""
    return json.dumps(asdict(question), ensure_ascii=False)


def read(text: str) -> Question:
    """Read the JSON of :func:`written`."""
    return _QUESTION.validate_json(text)
