"""A question as a room keeps it: its JSON, with the answer."""

from __future__ import annotations

from pydantic import TypeAdapter

from lab.questions.question import Question

_QUESTION = TypeAdapter(Question)


def written(question: Question) -> str:
    """Write a question as JSON."""
    return _QUESTION.dump_json(question).decode()


def read(text: str) -> Question:
    """Read the JSON of :func:`written`."""
    return _QUESTION.validate_json(text)
