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

from lab.course.words import escaped, plain, quoted
from lab.questions.question import Option, Question

MOST_QUESTIONS = 30
LONGEST, LONGEST_OPTION = 300, 120  # characters of an own question, and of each of its options
FEWEST_OPTIONS, MOST_OPTIONS = 2, 5
FORMAT: Final = "inside-bert-series/1"
OWN = "own"  # the id of a question of the teacher's own

_Short = Annotated[str, Field(max_length=100)]
_Prompt = Annotated[str, Field(min_length=1, max_length=LONGEST)]
_OptionText = Annotated[str, Field(min_length=1, max_length=LONGEST_OPTION)]


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
    said: _Prompt
    kind: Literal["prepared"] = "prepared"

    def asks(self, lesson: str, said: str) -> bool:
        """Return whether this is the question of a lesson that reads so in plain text."""
        return (self.lesson, self.said) == (lesson, said)


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class Own:
    """A question of the teacher's own: plain text, its options, the place of the right one, and the reason for it."""

    said: _Prompt
    options: Annotated[tuple[_OptionText, ...], Field(min_length=FEWEST_OPTIONS, max_length=MOST_OPTIONS)]
    right: Annotated[int, Field(ge=0)]
    why: Annotated[str, Field(max_length=LONGEST)] = ""
    kind: Literal["own"] = "own"

    def asks(self, lesson: str, said: str) -> bool:
        """Return whether this is the question of no lesson that reads so in plain text."""
        return not lesson and self.said == said

    def __post_init__(self) -> None:
        if self.right >= len(self.options):
            raise ValueError("one of the options must be right.")
        if len(set(self.options)) < len(self.options):
            raise ValueError("two options are the same.")


Item = Annotated[PreparedQuestion | Own, Field(discriminator="kind")]


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class Series:
    """Prepared questions, in the order in which the class gets them."""

    items: Annotated[tuple[Item, ...], Field(max_length=MOST_QUESTIONS)] = ()
    format: Literal["inside-bert-series/1"] = FORMAT

    def with_items(self, items: Sequence[PreparedQuestion | Own]) -> Series:
        """Add questions at the end, without those that are there already. Raises SeriesError if there are too many."""
        found = (*self.items, *(item for item in items if item not in self.items))
        if len(found) > MOST_QUESTIONS:
            raise SeriesError(f"A series has at most {MOST_QUESTIONS} questions.")
        return Series(found)

    def place_of(self, asked: Question, at: int) -> int | None:
        """Find the place of a question, first at ``at``; None if the series does not have it."""
        said = plain(asked.prompt)[:LONGEST]
        order = sorted(range(len(self.items)), key=lambda place: place != at)
        return next((place for place in order if self.items[place].asks(asked.lesson, said)), None)

    def without(self, place: int) -> Series:
        """Drop the question at ``place``, from 0."""
        return Series((*self.items[:place], *self.items[place + 1 :]))

    def moved_up(self, place: int) -> Series:
        """Put the question at ``place``, from 1, before the one above it."""
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
        first = wrong.errors()[0]
        where = " → ".join(str(each) for each in first["loc"]) or "the file"
        raise SeriesError(f"This file is not a series of questions: {where}: {first['msg']}.") from None


def own_question(own: Own) -> Question:
    """Make the question that a class is asked. Whatever the teacher typed stays text: no sign of it is Markdown."""
    right = escaped(own.why) or "This is the teacher’s answer."
    wrong = f"The teacher’s answer is {quoted(own.options[own.right])}."
    options = tuple(
        Option(escaped(text), right if place == own.right else wrong, correct=place == own.right)
        for place, text in enumerate(own.options)
    )
    return Question(OWN, escaped(own.said), options)
