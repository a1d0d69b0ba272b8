"""What a learner has seen and answered: first tries only, kept in plain values, and as a file.

The file is JSON of version :data:`VERSION`, UTF-8, at most :data:`MAX_BYTES`::

    {"lab": "Inside BERT", "version": 1, "lessons": {
        "self-attention": {
            "steps": {"Map": true, "Scores": false},
            "checks": {"most-even": null, "most-attended": {"question": "…", "chosen": "…",
                "why_chosen": "…", "right": "…", "why_right": "…", "correct": false, "link": {"text": "…"}}},
            "tests": {"before": {"second-weight": false}, "after": {"second-weight": true}, "g": 1.0}}}}

A step is true once seen; a check is null until answered; a link is null where the sentence was too long. ``tests`` are
there once the first was taken; ``after`` is null until the second was, g is null where it says nothing.
All texts are plain text, never Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lab.course.before_and_after import BothTests, gain
from lab.course.checks import Question
from lab.course.words import plain

LAB, VERSION = "Inside BERT", 1
# Every check of the course answered about a long sentence stays below this.
MAX_BYTES = 1_000_000
# Characters of one text, and of all values of a link together; a longer text is cut.
LONGEST = 600

Key = tuple[str, str]


@dataclass(frozen=True)
class Answer:
    """A first try, with what it takes to read it again later.

    Texts are plain. ``link`` are the URL's parameters that lead back to the sentence; None if it was too long.
    """

    question: str
    chosen: str
    why_chosen: str
    right: str
    why_right: str
    correct: bool
    link: Mapping[str, str] | None


def answer_to(question: Question, choice: int, link: Mapping[str, str]) -> Answer:
    """The answer ``choice`` (an index of the options) to a question; ``link`` are the URL's parameters."""
    chosen, right = question.options[choice], question.options[question.answer]
    return Answer(
        question=_kept(question.prompt),
        chosen=_kept(chosen.text),
        why_chosen=_kept(chosen.why),
        right=_kept(right.text),
        why_right=_kept(right.why),
        correct=chosen.correct,
        link=dict(link) if sum(map(len, link.values())) <= LONGEST else None,
    )


def _kept(markdown: str) -> str:
    return plain(markdown)[:LONGEST]


@dataclass(frozen=True)
class Count:
    """How far a learner is in a lesson: steps seen of those offered, checks right, answered and asked."""

    seen: int
    steps: int
    right: int
    answered: int
    asked: int


@dataclass(frozen=True)
class Progress:
    """By (lesson id, name): whether a step was seen, and the first answer to a check (None: not yet).

    ``tests``, by lesson id, are those taken before a lesson and after it.
    """

    steps: Mapping[Key, bool] = field(default_factory=dict)
    checks: Mapping[Key, Answer | None] = field(default_factory=dict)
    tests: Mapping[str, BothTests] = field(default_factory=dict)

    @property
    def first_tries(self) -> Mapping[Key, bool]:
        """Of each answered check, whether the first try was right."""
        return {key: answer.correct for key, answer in self.checks.items() if answer is not None}

    def visited(self, lesson: str, names: tuple[str, ...], now: str) -> Progress:
        """This progress when a lesson offers the steps ``names`` and shows ``now``."""
        offered = {(lesson, name): self.steps.get((lesson, name), False) or name == now for name in names}
        return replace(self, steps={**self.steps, **offered})

    def asked(self, lesson: str, question: str) -> Progress:
        """This progress when a check has been put on the screen."""
        return replace(self, checks={(lesson, question): None, **self.checks})

    def answered(self, lesson: str, question: str, answer: Answer) -> Progress:
        """This progress with one more answer; a later try never replaces the first."""
        key = (lesson, question)
        return self if self.checks.get(key) else replace(self, checks={**self.checks, key: answer})

    def tested(self, lesson: str, right: Mapping[str, bool]) -> Progress:
        """This progress with a test taken: the one before a lesson, or once that is there, the one after."""
        known = self.tests.get(lesson)
        taken = BothTests(right) if known is None else replace(known, after=known.after or right)
        return replace(self, tests={**self.tests, lesson: taken})

    def count(self, lesson: str) -> Count:
        """How far the learner is in a lesson."""
        steps = [seen for (at, _), seen in self.steps.items() if at == lesson]
        tries = [right for (at, _), right in self.first_tries.items() if at == lesson]
        asked = sum(at == lesson for at, _ in self.checks)
        return Count(sum(steps), len(steps), sum(tries), len(tries), asked)

    def missed(self) -> list[tuple[str, Answer]]:
        """(lesson id, answer) of every check whose first try was wrong, in the order of asking."""
        return [(lesson, each) for (lesson, _), each in self.checks.items() if each is not None and not each.correct]

    def merged(self, other: Progress) -> Progress:
        """This progress with what ``other`` adds. Where both have an answer or a test, this one's stays."""
        steps = {key: self.steps.get(key, False) or seen for key, seen in other.steps.items()}
        checks = {key: self.checks.get(key) or answer for key, answer in other.checks.items()}
        return Progress({**self.steps, **steps}, {**self.checks, **checks}, {**other.tests, **self.tests})

    def to_json(self) -> str:
        """The file: see the module's docstring. :func:`lab.course.progress_file.read` reads it back."""
        lessons: dict[str, dict[str, dict[str, object]]] = {}

        def entry(lesson: str) -> dict[str, dict[str, object]]:
            return lessons.setdefault(lesson, {"steps": {}, "checks": {}})

        for (lesson, name), seen in self.steps.items():
            entry(lesson)["steps"][name] = seen
        for (lesson, name), answer in self.checks.items():
            entry(lesson)["checks"][name] = None if answer is None else vars(answer)
        for lesson, taken in self.tests.items():
            after = None if taken.after is None else dict(taken.after)
            entry(lesson)["tests"] = {"before": dict(taken.before), "after": after, "g": gain([taken]).g}
        return json.dumps({"lab": LAB, "version": VERSION, "lessons": lessons}, ensure_ascii=False, indent=1)
