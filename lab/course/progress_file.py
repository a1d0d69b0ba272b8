"""Reading a progress file that anybody may have written: all of it is right, or nothing of it is taken."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from lab.course.before_and_after import BothTests
from lab.course.lessons import LESSONS
from lab.course.progress import LAB, LONGEST, MAX_BYTES, VERSION, Answer, Key, Progress
from lab.course.words import quoted
from lab.models.encoding import clean

# Steps, checks or parameters under one heading; a lesson has at most a dozen of each.
MOST = 100
# Characters of a name: of a step, of a check, of a parameter.
_NAME = 80
# Names that a note lists.
_LISTED = 5


class ProgressFileError(ValueError):
    """A file that is no progress of this lab; the message says in a sentence what is wrong with it."""


def read(data: bytes) -> tuple[Progress, tuple[str, ...]]:
    """The progress in a file, and notes (Markdown) about what in it this lab does not know.

    Raises :class:`ProgressFileError`, with a sentence (Markdown) for the learner, if the file is too
    large, is no JSON, is of another version, or holds a value of a wrong type or size.
    """
    if len(data) > MAX_BYTES:
        raise ProgressFileError(f"The file has {len(data):,} bytes. A progress file has at most {MAX_BYTES:,}.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ProgressFileError("The file is not JSON in UTF-8, as a progress file is.") from error
    if not isinstance(content, dict) or content.get("lab") != LAB:
        raise ProgressFileError("The file is not a progress file of this lab.")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise ProgressFileError(f"This lab reads progress files of version {VERSION}; this one has another.")
    reader = _Reader()
    reader.skip_unknown(content, ("lab", "version", "lessons"))
    known = {lesson.id for lesson in LESSONS}
    for lesson, entry in reader.table(content.get("lessons"), "lessons").items():
        if lesson in known:
            reader.lesson(lesson, entry)
        else:
            reader.unknown.append(lesson)
    return Progress(reader.steps, reader.checks, reader.tests), reader.notes()


@dataclass
class _Reader:
    """Takes a file apart, type by type, and remembers what nobody knows."""

    steps: dict[Key, bool] = field(default_factory=dict)
    checks: dict[Key, Answer | None] = field(default_factory=dict)
    tests: dict[str, BothTests] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def lesson(self, lesson: str, entry: object) -> None:
        content = self.table(entry, lesson)
        self.skip_unknown(content, ("steps", "checks", "tests"))
        for step, seen in self.table(content.get("steps", {}), "steps").items():
            self.steps[lesson, step] = self.truth(seen, step)
        for check, answer in self.table(content.get("checks", {}), "checks").items():
            self.checks[lesson, check] = None if answer is None else self.answer(check, answer)
        if "tests" in content:
            self.tests[lesson] = self.taken(content["tests"])

    def taken(self, entry: object) -> BothTests:
        """Both tests of a lesson. Their gain follows from them: what a file says of it is not asked."""
        content = self.table(entry, "tests")
        self.skip_unknown(content, ("before", "after", "g"))
        before = self.truths(content.get("before"), "before")
        if content.get("after") is None:
            return BothTests(before)
        after = self.truths(content["after"], "after")
        if set(before) != set(after):
            raise ProgressFileError("In the file, the tests before and after a lesson have other questions.")
        return BothTests(before, after)

    def truths(self, value: object, name: str) -> dict[str, bool]:
        return {each: self.truth(right, each) for each, right in self.table(value, name).items()}

    def answer(self, check: str, entry: object) -> Answer:
        content = self.table(entry, check)
        self.skip_unknown(content, tuple(Answer.__dataclass_fields__))
        return Answer(
            question=self.text(content.get("question"), "question"),
            chosen=self.text(content.get("chosen"), "chosen"),
            why_chosen=self.text(content.get("why_chosen"), "why_chosen"),
            right=self.text(content.get("right"), "right"),
            why_right=self.text(content.get("why_right"), "why_right"),
            correct=self.truth(content.get("correct"), "correct"),
            link=None if content.get("link") is None else self.link(content["link"]),
        )

    def link(self, value: object) -> dict[str, str]:
        params = {name: self.text(each, name) for name, each in self.table(value, "link").items()}
        if sum(map(len, params.values())) > LONGEST:
            raise ProgressFileError(f"In the file, a link is longer than {LONGEST} characters.")
        return params

    def truth(self, value: object, name: str) -> bool:
        if not isinstance(value, bool):
            raise ProgressFileError(f"In the file, {quoted(name)} must be true or false.")
        return value

    def table(self, value: object, name: str) -> dict[str, object]:
        """``value`` if it is an object of bounded size with bounded names."""
        if not isinstance(value, dict):
            raise ProgressFileError(f"In the file, {quoted(name)} must be an object.")
        if len(value) > MOST:
            raise ProgressFileError(f"In the file, {quoted(name)} has more than {MOST} entries.")
        if any(len(key) > _NAME for key in value):
            raise ProgressFileError(f"In the file, {quoted(name)} has a name of more than {_NAME} characters.")
        return {clean(key): each for key, each in value.items()}

    def text(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise ProgressFileError(f"In the file, {quoted(name)} must be a text.")
        if len(value) > LONGEST:
            raise ProgressFileError(f"In the file, {quoted(name)} is longer than {LONGEST} characters.")
        return clean(value)

    def skip_unknown(self, content: dict[str, object], names: tuple[str, ...]) -> None:
        self.unknown += [clean(name)[:_NAME] for name in content if name not in names]

    def notes(self) -> tuple[str, ...]:
        names = list(dict.fromkeys(self.unknown))
        if not names:
            return ()
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return (f"The lab does not know {', '.join(map(quoted, names[:_LISTED]))}{more}; that was left out.",)
