"""What lesson 4 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.comparing import head_sum
from lab.course.checks import Question
from lab.course.returning import Spot
from lab.lessons.multi_head_attention import checks as ask


def questions(spot: Spot) -> Iterator[Question | None]:
    """What the heads add together, and what another number of heads would cost."""
    config = spot.trace.model.config
    yield ask.together(spot.trace, head_sum(spot.traced), spot.query)
    yield ask.parameters(config, ask.other_cut(config))
    yield ask.whose_dimension(spot.trace)
