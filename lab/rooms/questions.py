"""A question as a room keeps it: what is asked, about what, and what each option believes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class PosedOption:
    """An option, whether it is right, and why, in a sentence with the numbers of the run."""

    text: str
    why: str
    correct: bool


@dataclass(frozen=True)
class Posed:
    """A question put to a class.

    Attributes
    ----------
    lesson
        The id of the lesson that it belongs to.
    question
        The id of the question in it: another one with this id, about another sentence, is of the same kind.
    about
        What it is asked about, in words: the sentence, the model, the head.
    link
        The parameters of the page that shows its answer.
    """

    lesson: str
    question: str
    prompt: str
    options: tuple[PosedOption, ...]
    about: str
    link: Mapping[str, str]

    @property
    def answer(self) -> int:
        """The right option, from 0."""
        return next(place for place, option in enumerate(self.options) if option.correct)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Posed:
        found = json.loads(text)
        return cls(**{**found, "options": tuple(PosedOption(**option) for option in found["options"])})


@dataclass(frozen=True)
class Hidden:
    """The same for a participant's page before the reveal: nothing in it tells which option is right."""

    lesson: str
    prompt: str
    options: tuple[str, ...]
    about: str

    @classmethod
    def of(cls, posed: Posed) -> Hidden:
        return cls(posed.lesson, posed.prompt, tuple(option.text for option in posed.options), posed.about)
