"""A question as a room keeps it: what is asked, about what, and what each option believes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from lab.rooms.forms import Bounds, Kind, Number


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
    number
        What is right where a number is asked for; then ``options`` only explain.
    """

    lesson: str
    question: str
    prompt: str
    options: tuple[PosedOption, ...]
    about: str
    link: Mapping[str, str]
    number: Number | None = None

    @property
    def kind(self) -> Kind:
        """What a learner gives as an answer."""
        return Kind.CHOICE if self.number is None else Kind.NUMBER

    @property
    def bins(self) -> int:
        """In how many bins answers are counted: a choice has one for each option."""
        return len(self.options) if self.number is None else len(self.number.bins)

    @property
    def right(self) -> int:
        """The bin of what is right, from 0."""
        return self.answer if self.number is None else self.number.right

    def bin(self, value: float) -> int:
        """The bin of an answer, from 0."""
        return int(value) if self.number is None else self.number.bin(value)

    def accepts(self, value: float) -> bool:
        """Whether this can be an answer."""
        if self.number is not None:
            return self.number.bounds.accepts(value)
        return value in range(len(self.options))

    @property
    def answer(self) -> int:
        """The right option, from 0."""
        return next(place for place, option in enumerate(self.options) if option.correct)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Posed:
        found = json.loads(text)
        number = found.get("number")
        read = {
            "options": tuple(PosedOption(**option) for option in found["options"]),
            "number": None if number is None else Number.from_dict(number),
        }
        return cls(**{**found, **read})


@dataclass(frozen=True)
class Hidden:
    """The same for a participant's page before the reveal: nothing in it tells what is right.

    ``options`` are those of a choice, ``bounds`` those of a number.
    """

    lesson: str
    prompt: str
    options: tuple[str, ...]
    about: str
    bounds: Bounds | None = None

    @classmethod
    def of(cls, posed: Posed) -> Hidden:
        """What may be told of a question before it is answered. The options of a number have the number among them."""
        if posed.number is not None:
            return cls(posed.lesson, posed.prompt, (), posed.about, posed.number.bounds)
        return cls(posed.lesson, posed.prompt, tuple(option.text for option in posed.options), posed.about)
