"""A question as a room keeps it: its JSON, with the answer."""

from __future__ import annotations

import json
from dataclasses import asdict

from pydantic import TypeAdapter

from lab.questions.question import Question

_QUESTION = TypeAdapter(Question)


def written(question: Question) -> str:
    """Write a question as JSON, with Infinity for a number without a limit."""
    return json.dumps(asdict(question), ensure_ascii=False)


def read(text: str) -> Question:
    """Read the JSON of :func:`written`."""
    return _QUESTION.validate_json(text)
