"""Questions made from the learner's own tensors.

A question is built by a pure function of a trace; its wrong options are real runners-up. A
builder returns None when the numbers do not decide clearly, and then the question is not asked.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

MARGIN = 0.05


@dataclass(frozen=True)
class Option:
    """One possible answer and what is true or false about it, in a sentence with this run's numbers."""

    text: str
    why: str
    correct: bool = False


@dataclass(frozen=True)
class Question:
    """A prompt with two or more options, exactly one correct. ``id`` names it in the progress.

    ``mixed`` says that the order of the options means nothing.
    """

    id: str
    prompt: str
    options: tuple[Option, ...]
    mixed: bool = False

    def __post_init__(self) -> None:
        texts = [option.text for option in self.options]
        if len(self.options) < 2 or sum(option.correct for option in self.options) != 1:
            raise ValueError(f"{self.id}: a question needs at least two options, exactly one of them correct.")
        if len(set(texts)) < len(texts):
            raise ValueError(f"{self.id}: two options read the same: {texts}.")
        if not all(option.why for option in self.options):
            raise ValueError(f"{self.id}: every option needs its explanation.")

    @property
    def answer(self) -> int:
        """Index of the correct option."""
        return next(i for i, option in enumerate(self.options) if option.correct)


def lettered(question: Question, index: int) -> str:
    """An option as it stands on screen: "**A** · brother"."""
    return f"**{chr(ord('A') + index)}** · {question.options[index].text}"


def clear_winner(values: Sequence[float], margin: float = MARGIN) -> int | None:
    """Index of the largest value if it leads by at least ``margin``, else None."""
    order = sorted(range(len(values)), key=lambda i: -values[i])
    if len(order) < 2 or values[order[0]] - values[order[1]] < margin:
        return None
    return order[0]


def shuffled(id: str, prompt: str, options: Sequence[Option]) -> Question:
    """A question with its options in an order that depends on the prompt alone, so links agree."""
    mixed = list(options)
    random.Random(prompt).shuffle(mixed)
    return Question(id, prompt, tuple(mixed), mixed=True)


def reordered(question: Question, seed: int) -> Question:
    """The question with its options as the seed of a class orders them; seed 0 and an order that matters stay."""
    if not seed or not question.mixed:
        return question
    options = list(question.options)
    random.Random(f"{seed} {question.prompt}").shuffle(options)
    return replace(question, options=tuple(options))


def selected(questions: Sequence[Question | None], most: int, seed: int = 0) -> list[Question]:
    """At most ``most`` of the questions that are asked at all: the first ones, or those a class's seed draws."""
    asked = [question for question in questions if question is not None]
    if seed:
        random.Random(f"{seed} {[question.prompt for question in asked]}").shuffle(asked)
    return [reordered(question, seed) for question in asked[:most]]


def ranked(
    id: str, prompt: str, values: Sequence[float], name: Callable[[int], str], why: Callable[[int, int], str]
) -> Question | None:
    """Which of ``values`` is the largest? The wrong options are the next three.

    ``name`` words an index, ``why(index, best)`` its explanation. None without a clear winner.
    """
    if clear_winner(values) is None:
        return None
    order = sorted(range(len(values)), key=lambda i: -values[i])[:4]
    return shuffled(id, prompt, [Option(name(i), why(i, order[0]), correct=i == order[0]) for i in order])


@dataclass(frozen=True)
class Quantity:
    """What a number is that is asked for: how it is written, how far apart two are, and what it may be."""

    show: Callable[[float], str]
    apart: float = 0.0
    within: tuple[float, float] = (-math.inf, math.inf)


def numeric(
    id: str, prompt: str, answer: tuple[float, str], wrong: Mapping[float, str], of: Quantity
) -> Question | None:
    """Which number is it? ``answer`` and ``wrong`` pair each value with its explanation.

    Wrong numbers within a tenth of one already offered, or nearer than the quantity's are apart, are left out, so
    that nobody has to round; so are those that could be no answer, and any that are not finite. Three stay at most.
    None with fewer than two.
    """
    show = of.show
    kept = {answer[0]: Option(show(answer[0]), answer[1], correct=True)}
    for value, why in wrong.items():
        possible = math.isfinite(value) and of.within[0] <= value <= of.within[1]
        far = all(abs(value - other) >= max(of.apart, 0.1 * max(abs(value), abs(other))) for other in kept)
        if possible and far and show(value) not in [option.text for option in kept.values()]:
            kept[value] = Option(show(value), why)
    return shuffled(id, prompt, list(kept.values())[:4]) if len(kept) >= 3 else None
