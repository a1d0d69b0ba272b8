"""What lesson 6 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.named import scores_of, trace_chance
from lab.analysis.heads.patterns import trace_patterns
from lab.analysis.heads.specialization import trace_specialization
from lab.course.checks import Question
from lab.course.returning import Spot
from lab.figures.attention import place
from lab.lessons.head_specialization import checks as ask
from lab.lessons.head_specialization.view import dimension


def questions(spot: Spot) -> Iterator[Question | None]:
    """Which name a head gets, and what the rim of the radar means, for those axes that need no parts of speech."""
    scores = scores_of(trace_patterns(spot.trace))
    here = place(spot.layer, spot.head)
    yield ask.name_of(here, scores[:, spot.layer, spot.head], trace_chance(spot.trace))
    untagged = [None] * len(spot.trace)
    every = trace_specialization(spot.trace, untagged, untagged)
    for id in ("self", "cls", "long_range"):
        values = (every.values(id, False)[spot.layer], every.values(id, True)[spot.layer])
        yield ask.rim_of_radar(spot.layer, dimension(id), values)
