"""What a learner expects of an experiment, and what blind guessing would have got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ask:
    """Something to predict before anybody knows: the answer comes with the result."""

    id: str
    prompt: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """Which option (from 0) is right by the result, and its numbers in a sentence."""

    option: int
    why: str


@dataclass(frozen=True)
class Score:
    """How many of ``count`` predictions were right, how many blind guesses are on average, and how probable it is to
    guess as many or more."""

    right: int
    count: int
    expected: float
    as_good: float


def between(interval: tuple[float, float], edges: Sequence[float]) -> int | None:
    """Between which edges the whole interval lies, from 0; None where it reaches over one."""
    low, high = (int(at) for at in np.searchsorted(edges, interval))
    return low if low == high else None


def score(asks: Sequence[Ask], choices: Mapping[str, int], answers: Mapping[str, Answer]) -> Score:
    """Of the questions that were answered by the learner and by the result; a guess takes each option alike."""
    both = [ask for ask in asks if ask.id in choices and ask.id in answers]
    right = sum(choices[ask.id] == answers[ask.id].option for ask in both)
    chances = [1 / len(ask.options) for ask in both]
    outcomes = np.ones(1)  # how probable 0, 1, 2 … right guesses are
    for chance in chances:
        outcomes = np.convolve(outcomes, [1 - chance, chance])
    return Score(right, len(both), sum(chances), float(outcomes[right:].sum()))
