"""The questions of lesson 3 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.attention import attention_row
from lab.lessons.self_attention import checks, claims
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask whether attention is symmetric, why scores are divided, and from which vectors a weight comes."""
    row = attention_row(spot.traced, spot.head, spot.query)
    yield checks.other_direction(spot.trace, spot.traced, spot.head, spot.query, spot.key)
    yield claims.without_scaling(claims.sharper(spot.trace, row, spot.query))
    yield checks.value_gone(spot.trace, row, spot.query)
    yield checks.one_score_up(spot.trace, row, spot.query)


def to_pick(spot: Spot) -> Iterator[Question | None]:
    """Ask a class to pick from all tokens or heads of another sentence."""
    yield checks.most_attended(spot.trace, attention_row(spot.traced, spot.head, spot.query), spot.query)
    yield checks.most_attended_overall(spot.trace, spot.traced, spot.head)
    yield checks.most_even(spot.trace, spot.traced, spot.head)
    yield checks.previous_token_head(spot.trace, spot.traced)
