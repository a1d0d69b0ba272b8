"""What a learner expects of an experiment, and what blind guessing would have got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.questions.question import Question, Right


@dataclass(frozen=True)
class GuessScore:
    """The number of predictions that were right, of ``count``, and of blind guesses that are right on average."""

    right: int
    count: int
    expected: float


def between(interval: tuple[float, float], edges: Sequence[float]) -> int | None:
    """Between which edges the whole interval lies, from 0; None where it reaches over one."""
    low, high = (int(at) for at in np.searchsorted(edges, interval))
    return low if low == high else None


def score(asks: Sequence[Question], choices: Mapping[str, int], answers: Mapping[str, Right]) -> GuessScore:
    """Score the questions that both the learner and the result have answered; a guess takes each option alike."""
    both = [ask for ask in asks if ask.id in choices and ask.id in answers]
    right = sum(choices[ask.id] == answers[ask.id][0] for ask in both)
    return GuessScore(right, len(both), sum(1 / len(ask.options) for ask in both))
