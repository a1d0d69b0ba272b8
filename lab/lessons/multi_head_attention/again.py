"""What lesson 4 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.comparing import head_sum
from lab.lessons.multi_head_attention import checks, what_if
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """What the heads add together, why there are several, and what belongs to one of them."""
    config = spot.trace.model.config
    yield what_if.after_w_o(config, spot.head)
    yield what_if.together(spot.trace, head_sum(spot.traced), spot.query)
    yield what_if.why_several(config)
    yield checks.whose_dimension(spot.trace)
