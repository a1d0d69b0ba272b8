"""A learner's progress and answers, as plain values and as JSON: in the browser, and in a file to take along.

The JSON has version :data:`VERSION`, UTF-8, at most :data:`MAX_BYTES`::

    {"lab": "Inside BERT", "version": 2,
     "lessons": {
        "self-attention": {
            "done": ["map", "scale"],
            "checks": {"most-even": null, "second-weight": {"correct": true}, "most-attended": {"question": "…",
                "chosen": "…", "why_chosen": "…", "right": "…", "why_right": "…", "correct": false,
                "link": {"text": "…"}}}}},
     "predictions": {"self-attention/map": {"0a1b…": 2, "2c3d…": null}},
     "tries": {"self-attention": {"4e5f…": [1, 0]}}}

Steps are named by their ids. A check is null until answered. Only a missed check keeps its texts; its link is null if
the sentence was too long. Predictions and the options tried in checks name a question by its key; a prediction that
was skipped is null. A toy's checks have "toy." before their names. All texts are plain text, never Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lab.course.pages import Lesson, Step
from lab.course.words import plain
from lab.questions.question import Question

LAB, VERSION = "Inside BERT", 3
MAX_BYTES = 64_000
TOY = "toy."
# The number of questions kept, for one prediction and for a list of checks.
PREDICTIONS_KEPT, TRIED_KEPT = 6, 30
# The most characters of one text, and of all values of a link together; a longer text is cut.
LONGEST = 600
# The largest number of characters in the name of a check or a parameter.
LONGEST_NAME = 80

Key = tuple[str, str]


@dataclass(frozen=True)
class Answer:
    """A first try and, if it was wrong, the texts needed to review it later. The texts are plain text, or empty if
    there was no room for texts. ``link`` has the URL's parameters that lead back to the sentence; None if the sentence
    was too long.
    """

    question: str = ""
    chosen: str = ""
    why_chosen: str = ""
    right: str = ""
    why_right: str = ""
    correct: bool = False
    link: Mapping[str, str] | None = None


def answer_to(question: Question, choice: int, link: Mapping[str, str]) -> Answer:
    """Make an answer from ``choice``, an index of the question's options, and ``link``, the URL's parameters."""
    chosen, right = question.options[choice], question.options[question.answer]
    if chosen.correct:
        return Answer(correct=True)
    return Answer(
        question=_kept(question.prompt),
        chosen=_kept(chosen.text),
        why_chosen=_kept(chosen.why),
        right=_kept(right.text),
        why_right=_kept(right.why),
        link=dict(link) if sum(map(len, link.values())) <= LONGEST else None,
    )


def _kept(markdown: str) -> str:
    return plain(markdown)[:LONGEST]


@dataclass(frozen=True)
class Count:
    """A learner's progress in a lesson: how many of the steps on the way are done; checks right, answered, asked."""

    done: int
    steps: int
    right: int
    answered: int
    asked: int


@dataclass(frozen=True)
class LearnerProgress:
    """By (lesson id, name): the steps that are done, by their ids, and the first answer to a check (None: not yet).

    A step is done when its question was answered or shown, its figure was used, or the learner went on from it.

    ``predictions``, by the step, have the option chosen for each question, by its key (None: skipped); a step whose
    figure was seen without a question has no predictions. ``tries``, by the name of a list of checks and the key of a
    question, are the options tried, in their order, as :meth:`lab.questions.question.Question.kept_as` names them.
    """

    done: frozenset[Key] = frozenset()
    checks: Mapping[Key, Answer | None] = field(default_factory=dict)
    predictions: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    tries: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def first_tries(self) -> Mapping[Key, bool]:
        """For each answered check, whether the first try was right."""
        return {key: answer.correct for key, answer in self.checks.items() if answer is not None}

    def did(self, lesson: str, step: str) -> LearnerProgress:
        """Return this progress after a step of a lesson, named by its id, was done."""
        return self if (lesson, step) in self.done else replace(self, done=self.done | {(lesson, step)})

    def has_done(self, lesson: Lesson, step: Step) -> bool:
        """Return whether a step of a lesson is done; where the lesson has another step for causal models instead, that
        step counts, too.
        """
        same = [
            each.id for each in lesson.steps if each.models == "causal" and step.models == "masked" and not each.aside
        ]
        return any((lesson.id, id) in self.done for id in (step.id, *same))

    def asked(self, lesson: str, question: str) -> LearnerProgress:
        """Return this progress after a check was on screen."""
        return replace(self, checks={(lesson, question): None, **self.checks})

    def answered(self, lesson: str, question: str, answer: Answer) -> LearnerProgress:
        """Return this progress with one more answer; a later try never replaces the first."""
        key = (lesson, question)
        return self if self.checks.get(key) else replace(self, checks={**self.checks, key: answer})

    def predicted(self, step: str, key: str, option: int | None) -> LearnerProgress:
        """Return this progress with a prediction, or with a skipped one (None), which keeps an earlier answer."""
        choices = dict(self.predictions.get(step, {}))
        before = choices.pop(key, None)
        choices[key] = before if option is None else option
        latest = dict(list(choices.items())[-PREDICTIONS_KEPT:])
        return replace(self, predictions={**self.predictions, step: latest})

    def saw(self, step: str) -> LearnerProgress:
        """Return this progress after a step has shown its figure without a question."""
        return self if step in self.predictions else replace(self, predictions={**self.predictions, step: {}})

    def forgot(self, step: str) -> LearnerProgress:
        """Return this progress without the predictions of a step, so that the step asks again."""
        return replace(self, predictions={name: each for name, each in self.predictions.items() if name != step})

    def tried(self, name: str, key: str, option: int) -> LearnerProgress:
        """Return this progress with one more option of a check tried; each option is kept once."""
        known = dict(self.tries.get(name, {}))
        known[key] = tuple(dict.fromkeys((*known.pop(key, ()), option)))
        latest = dict(list(known.items())[-TRIED_KEPT:])
        return replace(self, tries={**self.tries, name: latest})

    def count(self, lesson: Lesson) -> Count:
        """The learner's progress in a lesson, without what was done with its toy."""
        # The steps for causal models are there instead of steps for other models.
        way = [step for step in lesson.steps if not step.aside and step.models != "causal"]
        done = sum(self.has_done(lesson, step) for step in way)
        asked = [key for key in self.checks if key[0] == lesson.id and not key[1].startswith(TOY)]
        tries = [self.first_tries[key] for key in asked if key in self.first_tries]
        return Count(done, len(way), sum(tries), len(tries), len(asked))

    def missed(self) -> list[tuple[str, Answer]]:
        """The (lesson id, answer) of every check missed at first try whose texts are kept, in the order of asking."""
        return [(lesson, each) for (lesson, _), each in self.checks.items() if each is not None and each.question]

    def merged(self, other: LearnerProgress) -> LearnerProgress:
        """Return this progress with additions from ``other``.

        An answer or prediction that both have is not replaced. Of a check that was tried in both, the longer list of
        tries stays.
        """
        checks = {key: self.checks.get(key) or answer for key, answer in other.checks.items()}
        predictions = {
            step: {**other.predictions[step], **self.predictions.get(step, {})} for step in other.predictions
        }
        tries = {name: _longer(self.tries.get(name, {}), each) for name, each in other.tries.items()}
        return LearnerProgress(
            self.done | other.done,
            {**self.checks, **checks},
            {**self.predictions, **predictions},
            {**self.tries, **tries},
        )

    def to_json(self) -> str:
        """Write the JSON that the module's docstring describes. :func:`lab.questions.progress_file.read` reads it.

        If there is no room, the texts of missed checks are left out, beginning with the earliest.
        """
        text, now = self._json(), self
        for key in [key for key, answer in self.checks.items() if answer is not None and answer.question]:
            if len(text.encode()) <= MAX_BYTES:
                break
            now = replace(now, checks={**now.checks, key: Answer()})
            text = now._json()
        return text

    def _json(self) -> str:
        lessons: dict[str, dict[str, Any]] = {}

        def entry(lesson: str) -> dict[str, Any]:
            return lessons.setdefault(lesson, {"done": [], "checks": {}})

        for lesson, step in sorted(self.done):
            entry(lesson)["done"].append(step)
        for (lesson, name), answer in self.checks.items():
            entry(lesson)["checks"][name] = None if answer is None else _written(answer)
        predictions = {step: dict(choices) for step, choices in self.predictions.items()}
        tries = {name: dict(tried) for name, tried in self.tries.items()}
        content = {"lessons": lessons, "predictions": predictions, "tries": tries}
        return json.dumps({"lab": LAB, "version": VERSION, **content}, ensure_ascii=False, separators=(",", ":"))


def _longer(one: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Of each check the longer list of tries; the first list if both are equally long."""
    return {key: max(one.get(key, ()), other.get(key, ()), key=len) for key in {**one, **other}}


def _written(answer: Answer) -> dict[str, object]:
    """Return an answer without its empty values."""
    return {name: value for name, value in vars(answer).items() if value not in ("", None)}
