"""The questions of lesson 2 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lessons.embeddings import checks, word_checks
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask which rows of the token table are similar, and on what a token's first vector depends."""
    yield word_checks.nearest_word(spot.trace, spot.query)
    yield checks.what_changes(spot.trace, spot.query)
    yield checks.no_row_left(spot.trace)
    yield checks.cosine_of_one()
