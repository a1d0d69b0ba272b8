"""What lesson 2 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lessons.embeddings import checks, word_checks
from lab.questions.question import Question
from lab.questions.returning import Spot

_BASE = 10_000.0  # Vaswani et al. 2017, §3.5


def questions(spot: Spot) -> Iterator[Question | None]:
    """Which rows of the table are alike, and what sinusoids say about a distance."""
    width = spot.trace.model.config.width // 2 * 2
    yield word_checks.nearest_word(spot.trace, spot.query)
    yield checks.same_distance(width, _BASE, 1 + spot.query % 9)
    yield checks.turns_fastest(width, _BASE)
