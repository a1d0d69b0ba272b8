"""The questions of lesson 4 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.comparing import head_sum
from lab.lessons.multi_head_attention import checks, what_if
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask why there are several heads, and how long the sum of their vectors is."""
    yield checks.who_agrees(spot.trace, spot.traced, spot.head, spot.query)
    yield what_if.why_several(spot.trace.model.config)
    yield what_if.together(spot.trace, head_sum(spot.traced), spot.query)
    yield checks.parameters(spot.trace.model.config, checks.other_cut(spot.trace.model.config))
