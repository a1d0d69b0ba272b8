"""What lesson 6 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.specialization import trace_specialization
from lab.course.checks import Question
from lab.course.returning import Spot
from lab.lessons.head_specialization import checks as ask
from lab.lessons.head_specialization.view import dimension


def questions(spot: Spot) -> Iterator[Question | None]:
    """What the rim of the radar means, for those axes that need no parts of speech."""
    untagged = [None] * len(spot.trace)
    every = trace_specialization(spot.trace, untagged, untagged)
    for id in ("self", "cls", "long_range"):
        values = (every.values(id, False)[spot.layer], every.values(id, True)[spot.layer])
        yield ask.rim_of_radar(spot.layer, dimension(id), values)
