"""A question as a room keeps it: its text, the sentence that it is about, and the explanation of each option."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from lab.questions.forms import Bounds, Kind, NumberAnswer, Picks, PlaceAnswer
from lab.questions.question import Option


@dataclass(frozen=True)
class Posed:
    """A question put to a class.

    Attributes
    ----------
    lesson
        The id of the lesson that the question belongs to.
    question
        The question's id in the lesson: a question with the same id, about another sentence, is of the same kind.
    about
        The subject of the question in words: the sentence, the model, the head.
    link
        The parameters of the page that shows the answer.
    number
        The right number, if the learner types one; then ``options`` only explain.
    place
        The right token or head, if the learner picks one; then ``options`` only explain.
    """

    lesson: str
    question: str
    prompt: str
    options: tuple[Option, ...]
    about: str
    link: Mapping[str, str]
    number: NumberAnswer | None = None
    place: PlaceAnswer | None = None

    @property
    def kind(self) -> Kind:
        """The kind of answer that a learner gives."""
        if self.number is not None:
            return Kind.NUMBER
        return Kind.CHOICE if self.place is None else Kind.PLACE

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins in which answers are counted, in words: options, ranges of a number, places."""
        counted = self.number or self.place
        return tuple(option.text for option in self.options) if counted is None else counted.bins

    @property
    def right(self) -> int:
        """The bin of the right answer, from 0."""
        counted = self.number or self.place
        return self.answer if counted is None else counted.right

    def bin(self, value: float) -> int:
        """The bin of an answer, from 0."""
        return int(value) if self.number is None else self.number.bin(value)

    def accepts(self, value: float) -> bool:
        """Return whether this value can be an answer."""
        return value in range(len(self.bins)) if self.number is None else self.number.bounds.accepts(value)

    @property
    def answer(self) -> int:
        """The right option, from 0."""
        return next(place for place, option in enumerate(self.options) if option.correct)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Posed:
        return _READ.validate_json(text)


_READ = TypeAdapter(Posed)


@dataclass(frozen=True)
class Hidden:
    """A question for a participant's page before the reveal, without anything that gives the answer away.

    ``options`` belong to a choice, ``bounds`` to a number, ``picks`` to a token or head to be picked.
    """

    lesson: str
    prompt: str
    options: tuple[str, ...]
    about: str
    bounds: Bounds | None = None
    picks: Picks | None = None

    @classmethod
    def of(cls, posed: Posed) -> Hidden:
        """Hide the answer of a question.

        If the answer is a number or a place, hide the options, too, because they would give it away.
        """
        bounds = None if posed.number is None else posed.number.bounds
        picks = None if posed.place is None else posed.place.picks
        options = tuple(option.text for option in posed.options) if posed.kind is Kind.CHOICE else ()
        return cls(posed.lesson, posed.prompt, options, posed.about, bounds, picks)
