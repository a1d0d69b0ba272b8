"""A learner's predictions for an experiment, and the score that blind guessing would get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.questions.question import Question, Right


@dataclass(frozen=True)
class GuessScore:
    """How many of ``count`` predictions were right, and how many blind guesses would be right on average."""

    right: int
    count: int
    expected: float


def between(interval: tuple[float, float], edges: Sequence[float]) -> int | None:
    """The gap between two edges, from 0, that holds the whole interval; None if the interval reaches over an edge."""
    low, high = (int(at) for at in np.searchsorted(edges, interval))
    return low if low == high else None


def score(asks: Sequence[Question], choices: Mapping[str, int], answers: Mapping[str, Right]) -> GuessScore:
    """Score the questions that both learner and result have answered; blind guesses take all options equally often."""
    both = [ask for ask in asks if ask.id in choices and ask.id in answers]
    right = sum(choices[ask.id] == answers[ask.id][0] for ask in both)
    return GuessScore(right, len(both), sum(1 / len(ask.options) for ask in both))
