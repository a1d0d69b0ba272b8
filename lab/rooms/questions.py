"""A question as a room keeps it: its JSON, with the answer; and the one form of texts that people type."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict

from pydantic import TypeAdapter

from lab.course.words import escaped
from lab.models.encoding import clean
from lab.questions.question import Question, open_question

# Signs without a width: soft hyphen, joiners, and marks of direction. They do not tell two texts apart for a reader.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def one_line(text: str) -> str:
    """Bring a text into the one form in which a room keeps it: composed, on one line, without control characters.

    >>> one_line("  5\\u00a0%\\nof cafe\\u0301s ")
    '5 % of cafés'
    """
    signs = unicodedata.normalize("NFC", clean(text))
    return " ".join("".join(sign for sign in signs if sign.isspace() or unicodedata.category(sign) != "Cc").split())


def are_told_apart(lines: Sequence[str]) -> bool:
    """Return whether a reader sees something of each of these lines, and no two of them look the same."""
    seen = {one_line(_UNSEEN.sub("", line)) for line in lines}
    return "" not in seen and len(seen) == len(lines)


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
