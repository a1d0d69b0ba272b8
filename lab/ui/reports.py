"""What the browser reports, checked and bounded: the one way by which a component's states come into the lab.

Anybody may have written a report. What is too long, of another type or unknown is dropped before any code sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from lab.questions.progress import MAX_BYTES
from lab.rooms.codes import ALPHABET, LENGTH

_LONGEST = 100  # characters of a name, a seat, a key: all are shorter
_MOST_CELLS = 100  # cells that can be clicked at once
Short = Annotated[StrictStr, Field(max_length=_LONGEST)]
# A browser whose storage somebody has changed comes in as a new person.
Kept = Annotated[str, BeforeValidator(lambda told: told if isinstance(told, str) and len(told) <= _LONGEST else "")]
Code = Annotated[StrictStr, Field(pattern=rf"^[{ALPHABET}]{{{LENGTH}}}$")]  # here $ is the very end of a text
Place = Annotated[StrictInt, Field(ge=0, le=10_000)]  # a token, a layer or a head, from 0
# A progress file has at most MAX_BYTES bytes, and so no more characters.
FileText = Annotated[StrictStr, Field(max_length=MAX_BYTES)]
# 200 sentences of 300 characters with their labels.
SentencesText = Annotated[StrictStr, Field(max_length=100_000)]
Cell = Annotated[dict[Short, FiniteFloat | Short], Field(max_length=10)]
Cells = Annotated[tuple[Cell, ...], Field(max_length=_MOST_CELLS)]


class Report(BaseModel):
    """A report: its fields are the states of a component, by name; others are dropped."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class SeatKept(Report):
    """``seat``: the code of a room, the seat and the key that the browser has kept, and the visit that it answers."""

    seat: tuple[Code, Kept, Kept, Short]


class RoomsKept(Report):
    """``rooms``: the codes of the rooms that the browser has opened, each with its key."""

    rooms: Annotated[tuple[tuple[Code, Kept], ...], Field(max_length=20)]


class ProgressKept(Report):
    """``kept``: a name for the record, the progress as text, and when the learner started afresh for the last time."""

    kept: tuple[Short, FileText, Annotated[StrictInt, Field(ge=0, lt=10**15)]]


class FileChosen(Report):
    """``file``: a name for the choice, the size of the file in bytes, and its text."""

    file: tuple[Short, StrictInt, FileText]


class TokenChosen(Report):
    """``choice``: a name for the click, and the numbers of a query and a key."""

    choice: tuple[Short, StrictInt, StrictInt]


class WordChosen(Report):
    """``candidate``: a name for the click, and the place of the word."""

    candidate: tuple[Short, StrictInt]


class PictureActed(Report):
    """``act``: a name for the click, the part of the picture that was clicked, and its places."""

    act: Annotated[tuple[Short | Place, ...], Field(min_length=2, max_length=7)]


class SentencesKept(Report):
    """``kept``: a name for the report, and the learner's sentences as the browser has kept them."""

    kept: tuple[Short, SentencesText]


class HeadOpened(Report):
    """``opened``: the head that was opened, as the component writes it."""

    opened: Short


class HeadsShown(Report):
    """``view``: the heads that are shown, as the component writes them; whether special tokens are hidden; the share of
    a row that the lines cover, in percent, 0 for as much as usual.
    """

    view: tuple[Short, StrictBool, Annotated[StrictInt, Field(ge=0, le=100)]]


class LessonAsked(Report):
    """``lesson``: the id of the lesson that was asked for."""

    lesson: Short


class CellsClicked(Report):
    """The cells of a chart that were clicked, under the two names that charts give them."""

    map: Cells = ()
    cell: Cells = ()


Kind = TypeVar("Kind", bound=Report)


def heard(states: Mapping[str, Any] | None, kind: type[Kind]) -> Kind | None:
    """Return the report in a component's ``states``; None if there is none, or if it is not as ``kind`` says."""
    try:
        return kind.model_validate(dict(states or {}))
    except (ValidationError, TypeError, ValueError):  # what is no mapping has no states
        return None
