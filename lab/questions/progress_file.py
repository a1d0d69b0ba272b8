"""Reading progress from a file or a browser: anybody may have written it, so it must be valid as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from lab.course.pages import LESSONS
from lab.course.record import first_wrong
from lab.course.words import quoted
from lab.models.encoding import clean
from lab.questions.progress import (
    LAB,
    LONGEST,
    LONGEST_NAME,
    MAX_BYTES,
    VERSION,
    Answer,
    LearnerProgress,
)

# The most steps, checks or parameters under one heading; a lesson has at most two dozen of each.
MOST = 100
# The most steps with a prediction, over all lessons; and the most options of a question.
_PREDICTED, _OPTIONS = 300, 10
# The version before the course's questions were written anew: its steps count, its answers belong to no question.
_OLD = 2
WRITTEN_ANEW = (
    "Since your last visit, the questions of the course were written anew. Your {answers} answers to the old ones do "
    "not count any more; the steps that you have done do."
)
# The most unknown names that a note lists; of further names, the note gives only the number.
_LISTED = 5


class ProgressFileError(ValueError):
    """Raised if a file is not progress of this lab; the message says in a sentence what is wrong with the file."""


_Text = Annotated[str, Field(max_length=LONGEST)]
_Name = Annotated[str, Field(max_length=LONGEST_NAME)]
_Key = Annotated[str, Field(pattern="^[0-9a-f]{12}$")]  # of a question
_Option = Annotated[int, Field(ge=0, lt=_OPTIONS)]
_Tries = Annotated[dict[_Key, Annotated[list[_Option], Field(max_length=_OPTIONS)]], Field(max_length=MOST)]


class _Part(BaseModel):
    """A part of a file; names that this lab does not know are kept apart."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    def unknown(self) -> Iterator[str]:
        """Yield the names here that the lab does not know."""
        yield from self.model_extra or ()


class _Answer(_Part):
    correct: bool
    question: _Text = ""
    chosen: _Text = ""
    why_chosen: _Text = ""
    right: _Text = ""
    why_right: _Text = ""
    link: Annotated[dict[_Name, _Text], Field(max_length=MOST)] | None = None

    @field_validator("link")
    @classmethod
    def _is_short(cls, link: dict[str, str] | None) -> dict[str, str] | None:
        if sum(map(len, (link or {}).values())) > LONGEST:
            raise ValueError(f"a link has at most {LONGEST} characters")
        return link

    @property
    def value(self) -> Answer:
        return (
            Answer(correct=True) if self.correct else Answer(**self.model_dump(include={*Answer.__dataclass_fields__}))
        )


class _Lesson(_Part):
    done: Annotated[list[_Text], Field(max_length=MOST)] = []
    checks: Annotated[dict[_Name, _Answer | None], Field(max_length=MOST)] = {}

    def unknown(self) -> Iterator[str]:
        yield from super().unknown()
        for answer in self.checks.values():
            yield from answer.unknown() if answer is not None else ()


class _Shown(_Part):
    """A list of checks as it was kept until November 2026, beside what was on screen."""

    tries: _Tries = {}


class _File(_Part):
    lab: str
    version: int
    lessons: Annotated[dict[_Name, Any], Field(max_length=MOST)]  # a lesson is read only if the lab has it
    predictions: Annotated[dict[_Name, dict[_Key, _Option | None]], Field(max_length=_PREDICTED)] = {}
    tries: Annotated[dict[_Name, _Tries], Field(max_length=MOST)] = {}
    shown: Annotated[dict[_Name, _Shown], Field(max_length=MOST)] = {}

    def tried(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """The options tried in each list of checks."""
        lists = {name: shown.tries for name, shown in self.shown.items()} | self.tries
        return {name: {key: tuple(options) for key, options in tries.items()} for name, tries in lists.items()}


def read(data: bytes) -> tuple[LearnerProgress, tuple[str, ...]]:
    """Return the progress in a file, and notes (Markdown) about the parts that this lab does not know.

    Raises :class:`ProgressFileError`, with a sentence (Markdown) for the learner, if the file is too large, is not
    JSON, is of another version, or holds a value of a wrong type or size.
    """
    check_size(len(data))
    try:
        content = _cleaned(json.loads(data.decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        raise ProgressFileError("The file is not JSON in UTF-8, as a progress file must be.") from error
    if not isinstance(content, dict) or content.get("lab") != LAB:
        raise ProgressFileError("The file is not a progress file of this lab.")
    version = content.get("version")
    if type(version) is not int or version not in (_OLD, VERSION):
        raise ProgressFileError(f"This lab reads progress files of version {VERSION}; this file has another version.")
    try:
        file = _File.model_validate(content)
        known = {lesson.id: {step.id for step in lesson.steps} for lesson in LESSONS}
        lessons = {id: _Lesson.model_validate(file.lessons[id]) for id in file.lessons if id in known}
    except ValidationError as error:
        raise ProgressFileError(f"This file is not progress of this lab: {first_wrong(error)}.") from None
    steps = [(id, step) for id, lesson in lessons.items() for step in lesson.done]
    found = LearnerProgress(
        frozenset((id, step) for id, step in steps if step in known[id]),
        {
            (id, name): each.value if each else None
            for id, lesson in lessons.items()
            for name, each in lesson.checks.items()
        },
        file.predictions,
        file.tried(),
    )
    if version == _OLD:
        answers = len(found.first_tries) + sum(map(len, found.predictions.values()))
        return LearnerProgress(found.done), (WRITTEN_ANEW.format(answers=answers),) * bool(answers)
    parts = (file, *lessons.values())
    unknown = [name for part in parts for name in part.unknown()]
    unknown += [*(id for id in file.lessons if id not in known), *(step for id, step in steps if step not in known[id])]
    return found, _notes(unknown)


def check_size(size: int) -> None:
    """Raise :class:`ProgressFileError` for a file with more bytes than a progress file may have."""
    if size > MAX_BYTES:
        raise ProgressFileError(f"The file has {size:,} bytes. A progress file has at most {MAX_BYTES:,}.")


def _cleaned(value: Any) -> Any:
    """Return a value of JSON whose texts can be shown: lone surrogates and the like are gone."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return {clean(name): _cleaned(each) for name, each in value.items()} if isinstance(value, dict) else value


def _notes(unknown: list[str]) -> tuple[str, ...]:
    names = list(dict.fromkeys(name[:LONGEST_NAME] for name in unknown))
    if not names:
        return ()
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (f"The lab does not know {', '.join(map(quoted, names[:_LISTED]))}{more}; that was left out.",)
