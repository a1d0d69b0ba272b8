"""A series: the questions that a teacher has prepared for a class, as a room keeps them, and as a file.

A question of the lab is kept by its link and its name: before the class, the lab makes it again, with its figure. A
question of the teacher's own is plain text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from lab.course.record import first_wrong
from lab.course.words import escaped, quoted, unmarked
from lab.questions.question import Option, Question
from lab.rooms.questions import are_told_apart, one_line

MOST_QUESTIONS = 30
LONGEST, LONGEST_OPTION = 300, 120  # characters of an own question, and of each of its options
FEWEST_OPTIONS, MOST_OPTIONS = 2, 5
FORMAT: Final = "inside-bert-series/1"
OWN = "own"  # the id of a question of the teacher's own

_Short = Annotated[str, Field(max_length=100)]


class SeriesError(ValueError):
    """Raised for a series that cannot be read; the message is for the teacher who brought it."""


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class PreparedQuestion:
    """A question of the lab.

    Attributes
    ----------
    lesson, step
        The ids of the page and of the step that ask it.
    link
        The parameters of the page, by name: the sentence, the layer, the head.
    said
        What the question is about, for the list.
    """

    lesson: _Short
    step: _Short
    link: Annotated[Mapping[_Short, Annotated[str, Field(max_length=4_000)]], Field(max_length=40)]
    said: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    kind: Literal["prepared"] = "prepared"

    def asks(self, lesson: str, said: str) -> bool:
        """Return whether this is the question of a lesson that reads so in plain text."""
        return (self.lesson, self.said) == (lesson, said)


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class Own:
    """A question of the teacher's own: plain text, its options, the place of the right one, and the reason for it.

    Whether it is typed or opened, its texts get the form in which the class reads them, and a question that cannot be
    asked raises ValueError.
    """

    said: str
    options: tuple[str, ...]
    right: int
    why: str = ""
    kind: Literal["own"] = "own"

    def __post_init__(self) -> None:
        texts = {"said": one_line(self.said), "options": tuple(map(one_line, self.options)), "why": one_line(self.why)}
        for name, value in texts.items():
            object.__setattr__(self, name, value)
        count = len(self.options)
        if not (are_told_apart([self.said]) and FEWEST_OPTIONS <= count <= MOST_OPTIONS and 0 <= self.right < count):
            raise ValueError(f"A question needs a text, a right and a wrong answer, at most {MOST_OPTIONS} in all.")
        if not are_told_apart(self.options):
            raise ValueError("Two answers look the same, or one is empty. Write different answers.")
        if max(len(self.said), len(self.why)) > LONGEST or max(map(len, self.options)) > LONGEST_OPTION:
            raise ValueError(f"A question has at most {LONGEST} characters, and each of its answers {LONGEST_OPTION}.")

    def asks(self, lesson: str, said: str) -> bool:
        """Return whether this is the question of no lesson that reads so in plain text."""
        return not lesson and self.said == said


Item = Annotated[PreparedQuestion | Own, Field(discriminator="kind")]


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class Series:
    """Prepared questions, in the order in which the class gets them."""

    items: Annotated[tuple[Item, ...], Field(max_length=MOST_QUESTIONS)] = ()
    format: Literal["inside-bert-series/1"] = FORMAT

    def with_items(self, items: Sequence[PreparedQuestion | Own]) -> Series:
        """Add questions at the end, without those that are there already. Raises SeriesError if there are too many."""
        found = list(self.items)
        for item in items:
            if item not in found:
                found.append(item)
        if len(found) > MOST_QUESTIONS:
            raise SeriesError(f"A series has at most {MOST_QUESTIONS} questions. Remove some before you add others.")
        return Series(tuple(found))

    def at(self, item: PreparedQuestion | Own) -> int:
        """The place of an item, from 0. Raises SeriesError if somebody has removed it."""
        if item not in self.items:
            raise SeriesError("The series has changed, and no longer has this question. Look at the list again.")
        return self.items.index(item)

    def place_of(self, asked: Question, at: int) -> int | None:
        """Find the place of a question, first at ``at``; None if the series does not have it."""
        order, said = sorted(range(len(self.items)), key=lambda place: place != at), said_of(asked)
        return next((place for place in order if self.items[place].asks(asked.lesson, said)), None)

    def without(self, place: int) -> Series:
        """Drop the question at ``place``, from 0."""
        return Series((*self.items[:place], *self.items[place + 1 :]))

    def moved_up(self, place: int, asked: int) -> Series:
        """Put the question at ``place`` before the one above it, if both or neither are among the first ``asked``.

        Raises SeriesError otherwise: the class would get a question again, and never get another.
        """
        if place in (0, asked):
            raise SeriesError("No question that is still to come is above this one, so it cannot move up.")
        above, moved = self.items[place - 1], self.items[place]
        return Series((*self.items[: place - 1], moved, above, *self.items[place + 1 :]))


_SERIES = TypeAdapter(Series)


def written(series: Series) -> str:
    """Write a series as JSON."""
    return json.dumps(asdict(series), ensure_ascii=False, indent=1)


def read(text: str) -> Series:
    """Read what :func:`written` wrote, or what anybody brings as such a file; "" is an empty series.

    Raises SeriesError.
    """
    if not text:
        return Series()
    try:
        return _SERIES.validate_json(text)
    except ValidationError as wrong:
        raise SeriesError(f"This file is not a series of questions: {first_wrong(wrong)}.") from None


def said_of(asked: Question) -> str:
    """The text by which a series knows a question."""
    return unmarked(asked.prompt)[:LONGEST]


def own_question(own: Own) -> Question:
    """Make the question that a class is asked. Whatever the teacher typed stays text: no sign of it is Markdown."""
    right = escaped(own.why) or "This is the teacher’s answer."
    wrong = f"The teacher’s answer is {quoted(own.options[own.right])}."
    options = tuple(
        Option(escaped(text), right if place == own.right else wrong, correct=place == own.right)
        for place, text in enumerate(own.options)
    )
    return Question(OWN, escaped(own.said), options)
