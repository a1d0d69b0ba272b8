"""Every question about likelihoods, lens, sampling and pairs: one right answer, found again by another way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lab.analysis.words.likelihood import Likelihood, TokenScore
from lab.lessons.masked_language_model import likelihood_checks
from lab.questions.question import Option, Question

PROBABILITIES = (0.5, 0.002, 0.1, 0.3)
FOUND = Likelihood(True, 4, tuple(TokenScore(i + 1, i, math.log(p), i + 1, 0) for i, p in enumerate(PROBABILITIES)))
NAMES = ("“the” (2)", "“cat” (3)", "“sat” (4)", "“.” (5)")
SHARES = np.array([0.30, 0.25, 0.20, 0.10, 0.05, 0.04, 0.03, 0.02, 0.01])


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def test_the_least_probable_token_surprises_most() -> None:
    right = answer(likelihood_checks.most_surprising(FOUND, NAMES))
    assert right.text == "“cat” (3)"
    assert f"ln P = −{-math.log(0.002):.2f}" in right.why
    assert likelihood_checks.most_surprising(Likelihood(True, 4, FOUND.scores[:1]), NAMES) is None


@pytest.mark.parametrize(
    ("p", "text"), [(0.1, "Below 0.25"), (0.5, "Between 0.25 and 0.75"), (0.99, "Above 0.75"), (0.251, None)]
)
def test_the_band_of_a_probability(p: float, text: str | None) -> None:
    question = likelihood_checks.follows_band(p)
    assert (None if question is None else answer(question).text) == text
