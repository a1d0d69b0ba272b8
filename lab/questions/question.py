"""Questions made from the learner's own tensors.

A question is built by a pure function of a trace; its wrong options are real runners-up. The function returns None if
the numbers do not decide clearly, and then the question is not asked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lab.questions.forms import NumberAnswer, PlaceAnswer

MARGIN = 0.05


@dataclass(frozen=True)
class Option:
    """One possible answer, with a sentence that says, with this run's numbers, why the answer is right or wrong."""

    text: str
    why: str = ""
    correct: bool = False


# The right option, from 0, and a sentence that says with numbers why it is right.
Right = tuple[int, str]


@dataclass(frozen=True)
class Question:
    """A prompt with two or more options, of which one is correct. ``id`` names the question in the progress.

    A question whose answer a measurement will give is open: no option is correct until it is :meth:`answered`.
    ``mixed`` says that the order of the options means nothing. ``number`` is set if a class may be asked for the number
    itself, without options, and ``place`` if it may be asked to pick any token or head.
    """

    id: str
    prompt: str
    options: tuple[Option, ...]
    mixed: bool = False
    number: NumberAnswer | None = field(default=None, compare=False)
    place: PlaceAnswer | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        texts = [option.text for option in self.options]
        right = sum(option.correct for option in self.options)
        if len(self.options) < 2 or right != (not self.is_open):
            raise ValueError(f"{self.id}: a question needs at least two options, exactly one of them correct.")
        if len(set(texts)) < len(texts):
            raise ValueError(f"{self.id}: two options read the same: {texts}.")
        if not self.is_open and not all(option.why for option in self.options):
            raise ValueError(f"{self.id}: every option needs its explanation.")

    @property
    def is_open(self) -> bool:
        """True if the answer is not known yet: no option is correct or explained."""
        return not any(option.correct or option.why for option in self.options)

    @property
    def answer(self) -> int:
        """Index of the correct option. Raises ValueError while the question is open."""
        if self.is_open:
            raise ValueError(f"{self.id}: nobody knows the answer yet.")
        return next(i for i, option in enumerate(self.options) if option.correct)

    def answered(self, right: int, why: str) -> Question:
        """Return this open question with its answer."""
        options = (replace(each, why=why, correct=i == right) for i, each in enumerate(self.options))
        return replace(self, options=tuple(options))


def open_question(id: str, prompt: str, texts: Sequence[str]) -> Question:
    """Make a question whose answer nobody knows before a measurement."""
    return Question(id, prompt, tuple(map(Option, texts)))


def letter(index: int) -> str:
    """The letter on screen for the option with this index, from 0."""
    return chr(ord("A") + index)


def with_letter(index: int, text: str) -> str:
    """Write an option as it is on screen: "**A** · brother"."""
    return f"**{letter(index)}** · {text}"


def lettered(question: Question, index: int) -> str:
    """Write the option of a question with this index, from 0, as it is on screen."""
    return with_letter(index, question.options[index].text)


def clear_winner(values: Sequence[float], margin: float = MARGIN) -> int | None:
    """The index of the largest value if it leads by at least ``margin``, otherwise None."""
    order = sorted(range(len(values)), key=lambda i: -values[i])
    if len(order) < 2 or values[order[0]] - values[order[1]] < margin:
        return None
    return order[0]


def shuffled(id: str, prompt: str, options: Sequence[Option]) -> Question:
    """Make a question with its options in an order that depends only on the prompt, so that all links show the same."""
    mixed = list(options)
    random.Random(prompt).shuffle(mixed)
    return Question(id, prompt, tuple(mixed), mixed=True)


def reordered(question: Question, seed: int) -> Question:
    """Return the question with options in the order of a class's seed; unchanged for 0, or if their order matters."""
    if not seed or not question.mixed:
        return question
    options = list(question.options)
    random.Random(f"{seed} {question.prompt}").shuffle(options)
    return replace(question, options=tuple(options))


def selected(questions: Sequence[Question | None], most: int, seed: int = 0) -> list[Question]:
    """Return at most ``most`` questions, leaving out None: the first questions, or those that a class's seed draws."""
    asked = [question for question in questions if question is not None]
    if seed:
        random.Random(f"{seed} {[question.prompt for question in asked]}").shuffle(asked)
    return [reordered(question, seed) for question in asked[:most]]
