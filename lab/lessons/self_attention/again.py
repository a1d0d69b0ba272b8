"""What lesson 3 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.attention import attention_row
from lab.lessons.self_attention import checks, claims
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Whether attention is symmetric, what the division does, and what a weight is made of."""
    row = attention_row(spot.traced, spot.head, spot.query)
    yield checks.other_direction(spot.trace, spot.traced, spot.head, spot.query, spot.key)
    yield claims.without_scaling(claims.sharper(spot.trace, row, spot.query))
    yield checks.value_gone(spot.trace, row, spot.query)
    yield checks.one_score_up(spot.trace, row, spot.query)


def to_pick(spot: Spot) -> Iterator[Question | None]:
    """What a class can be asked to pick from all tokens or heads of another sentence."""
    yield checks.most_attended(spot.trace, attention_row(spot.traced, spot.head, spot.query), spot.query)
    yield checks.most_attended_overall(spot.trace, spot.traced, spot.head)
    yield checks.most_even(spot.trace, spot.traced, spot.head)
    yield checks.previous_token_head(spot.trace, spot.traced)
