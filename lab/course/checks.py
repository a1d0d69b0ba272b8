"""Questions made from the learner's own tensors.

A question is built by a pure function of a trace; its wrong options are real runners-up. A
builder returns None when the numbers do not decide clearly, and then the question is not asked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MARGIN = 0.05


@dataclass(frozen=True)
class Option:
    """One possible answer and what is true or false about it, in a sentence with this run's numbers."""

    text: str
    why: str
    correct: bool = False


@dataclass(frozen=True)
class Question:
    """A prompt with two or more options, exactly one correct. ``id`` names it in the progress."""

    id: str
    prompt: str
    options: tuple[Option, ...]

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
    return Question(id, prompt, tuple(mixed))


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
