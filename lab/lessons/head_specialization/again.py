"""What lesson 6 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.named import scores_of, trace_chance
from lab.analysis.heads.neurons import DECIDED
from lab.analysis.heads.patterns import PATTERNS, same_word_cases, trace_patterns
from lab.analysis.heads.specialization import SPECIALIZATIONS, specialization, trace_specialization
from lab.figures.attention import place
from lab.lessons.head_specialization import checks
from lab.lessons.head_specialization.view import dimension
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.text.tags.pipeline import PipelineUnavailable


def questions(spot: Spot) -> Iterator[Question | None]:
    """Which name a head gets, and what the rim of the radar means, for those axes that need no parts of speech."""
    scores = scores_of(trace_patterns(spot.trace))
    here = place(spot.layer, spot.head)
    yield checks.name_of(here, scores[:, spot.layer, spot.head], trace_chance(spot.trace))
    untagged = [None] * len(spot.trace)
    every = trace_specialization(spot.trace, untagged, untagged)
    for id in ("self", "cls", "long_range"):
        values = (every.values(id, False)[spot.layer], every.values(id, True)[spot.layer])
        yield checks.rim_of_radar(spot.layer, dimension(id), values)


def to_pick(spot: Spot) -> Iterator[Question | None]:
    """What a class can be asked to pick from all heads on another sentence; parts of speech where there are any."""
    scores = scores_of(trace_patterns(spot.trace))
    few = same_word_cases(spot.trace) < checks.FEW_CASES
    for pattern in DECIDED:
        if few and pattern.id == "same_word":
            continue
        yield checks.best_head(pattern, scores[PATTERNS.index(pattern)])
    try:
        raw = specialization(spot.trace).raw[spot.layer]
    except PipelineUnavailable:
        return
    for number, each in enumerate(SPECIALIZATIONS):
        yield checks.looks_most(spot.layer, each, raw[:, number])
