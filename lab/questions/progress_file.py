"""Reading progress from a file or a browser: anybody may have written it, so it must be valid as a whole."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from lab.course.pages import LESSONS, lesson_of
from lab.course.words import quoted
from lab.models.encoding import clean
from lab.questions.progress import (
    LAB,
    LONGEST,
    LONGEST_NAME,
    MAX_BYTES,
    SEEN_KEPT,
    VERSION,
    Answer,
    CheckList,
    Key,
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
    "not "
    "count any more; the steps that you have done do."
)
# The form of a question's key.
_KEY = re.compile(r"[0-9a-f]{12}")
# The most unknown names that a note lists; of further names, the note gives only the number.
_LISTED = 5


class ProgressFileError(ValueError):
    """Raised if a file is not progress of this lab; the message says in a sentence what is wrong with the file."""


def read(data: bytes) -> tuple[LearnerProgress, tuple[str, ...]]:
    """Return the progress in a file, and notes (Markdown) about the parts that this lab does not know.

    Raises :class:`ProgressFileError`, with a sentence (Markdown) for the learner, if the file is too large, is not
    JSON, is of another version, or holds a value of a wrong type or size.
    """
    check_size(len(data))
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ProgressFileError("The file is not JSON in UTF-8, as a progress file must be.") from error
    if not isinstance(content, dict) or content.get("lab") != LAB:
        raise ProgressFileError("The file is not a progress file of this lab.")
    version = content.get("version")
    if type(version) is not int or version not in (_OLD, VERSION):
        raise ProgressFileError(f"This lab reads progress files of version {VERSION}; this file has another version.")
    reader = _Reader()
    reader.skip_unknown(content, ("lab", "version", "lessons", "predictions", "shown"))
    known = {lesson.id for lesson in LESSONS}
    for lesson, entry in reader.table(content.get("lessons"), "lessons").items():
        if lesson in known:
            reader.lesson(lesson, entry)
        else:
            reader.unknown.append(lesson)
    predictions = {
        step: reader.predictions(step, choices)
        for step, choices in reader.table(content.get("predictions", {}), "predictions", _PREDICTED).items()
    }
    shown = {name: reader.shown(name, entry) for name, entry in reader.table(content.get("shown", {}), "shown").items()}
    found = LearnerProgress(frozenset(reader.done), reader.checks, predictions, shown)
    if version == _OLD:
        answers = len(found.first_tries) + sum(map(len, predictions.values()))
        return LearnerProgress(found.done), (WRITTEN_ANEW.format(answers=answers),) * bool(answers)
    return found, reader.notes()


def check_size(size: int) -> None:
    """Raise :class:`ProgressFileError` for a file with more bytes than a progress file may have."""
    if size > MAX_BYTES:
        raise ProgressFileError(f"The file has {size:,} bytes. A progress file has at most {MAX_BYTES:,}.")


@dataclass
class _Reader:
    """Checks the types of everything in a file, and collects the names that this lab does not know."""

    done: set[Key] = field(default_factory=set)
    checks: dict[Key, Answer | None] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def lesson(self, lesson: str, entry: object) -> None:
        content = self.table(entry, lesson)
        self.skip_unknown(content, ("done", "checks"))
        known = {step.id for step in lesson_of(lesson).steps}
        for each in self.items(content.get("done", []), "done", MOST):
            step = self.text(each, "done")
            if step in known:
                self.done.add((lesson, step))
            else:
                self.unknown.append(step[:LONGEST_NAME])
        for check, answer in self.table(content.get("checks", {}), "checks").items():
            self.checks[lesson, check] = None if answer is None else self.answer(check, answer)

    def answer(self, check: str, entry: object) -> Answer:
        content = self.table(entry, check)
        self.skip_unknown(content, tuple(Answer.__dataclass_fields__))
        wrong = Answer(
            question=self.text(content.get("question", ""), "question"),
            chosen=self.text(content.get("chosen", ""), "chosen"),
            why_chosen=self.text(content.get("why_chosen", ""), "why_chosen"),
            right=self.text(content.get("right", ""), "right"),
            why_right=self.text(content.get("why_right", ""), "why_right"),
            link=None if content.get("link") is None else self.link(content["link"]),
        )
        return Answer(correct=True) if self.truth(content.get("correct"), "correct") else wrong

    def predictions(self, step: str, value: object) -> dict[str, int | None]:
        """The option chosen for each of a step's questions."""
        chosen = self.table(value, step)
        return {
            self.key(name, step): None if option is None else self.number(option, step)
            for name, option in chosen.items()
        }

    def shown(self, name: str, entry: object) -> CheckList:
        """The checks that were on screen."""
        content = self.table(entry, name)
        self.skip_unknown(content, tuple(CheckList.__dataclass_fields__))
        tries = self.table(content.get("tries", {}), "tries")
        return CheckList(
            self.number(content.get("number"), "number", 10**6),
            self.keys(content.get("asked"), "asked"),
            self.keys(content.get("seen"), "seen"),
            {self.key(each, "tries"): self.options(tried, "tries") for each, tried in tries.items()},
        )

    def keys(self, value: object, name: str) -> tuple[str, ...]:
        return tuple(self.key(each, name) for each in self.items(value, name, SEEN_KEPT))

    def options(self, value: object, name: str) -> tuple[int, ...]:
        return tuple(self.number(each, name) for each in self.items(value, name, _OPTIONS))

    def items(self, value: object, name: str, most: int) -> list[object]:
        if not isinstance(value, list) or len(value) > most:
            raise ProgressFileError(f"In the file, {quoted(name)} must be a list of at most {most}.")
        return value

    def key(self, value: object, name: str) -> str:
        if not isinstance(value, str) or not _KEY.fullmatch(value):
            raise ProgressFileError(f"In the file, {quoted(name)} must name questions by 12 digits.")
        return value

    def number(self, value: object, name: str, below: int = _OPTIONS) -> int:
        if type(value) is not int or not 0 <= value < below:
            raise ProgressFileError(f"In the file, {quoted(name)} must be a number from 0 to {below - 1}.")
        return value

    def link(self, value: object) -> dict[str, str]:
        params = {name: self.text(each, name) for name, each in self.table(value, "link").items()}
        if sum(map(len, params.values())) > LONGEST:
            raise ProgressFileError(f"In the file, a link is longer than {LONGEST} characters.")
        return params

    def truth(self, value: object, name: str) -> bool:
        if not isinstance(value, bool):
            raise ProgressFileError(f"In the file, {quoted(name)} must be true or false.")
        return value

    def table(self, value: object, name: str, most: int = MOST) -> dict[str, object]:
        """Return ``value`` if it is an object of limited size whose names have a limited length."""
        if not isinstance(value, dict):
            raise ProgressFileError(f"In the file, {quoted(name)} must be an object.")
        if len(value) > most:
            raise ProgressFileError(f"In the file, {quoted(name)} has more than {most} entries.")
        if any(len(key) > LONGEST_NAME for key in value):
            raise ProgressFileError(f"In the file, {quoted(name)} has a name of more than {LONGEST_NAME} characters.")
        return {clean(key): each for key, each in value.items()}

    def text(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise ProgressFileError(f"In the file, {quoted(name)} must be a text.")
        if len(value) > LONGEST:
            raise ProgressFileError(f"In the file, {quoted(name)} is longer than {LONGEST} characters.")
        return clean(value)

    def skip_unknown(self, content: dict[str, object], names: tuple[str, ...]) -> None:
        self.unknown += [clean(name)[:LONGEST_NAME] for name in content if name not in names]

    def notes(self) -> tuple[str, ...]:
        names = list(dict.fromkeys(self.unknown))
        if not names:
            return ()
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return (f"The lab does not know {', '.join(map(quoted, names[:_LISTED]))}{more}; that was left out.",)
