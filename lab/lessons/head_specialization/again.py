"""The questions of lesson 6 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.heads.named import scores_of
from lab.analysis.heads.neurons import DECIDED
from lab.analysis.heads.patterns import PATTERNS, same_word_cases, trace_patterns
from lab.analysis.heads.specialization import SPECIALIZATIONS, specialization, trace_specialization
from lab.lessons.head_specialization import checks
from lab.lessons.head_specialization.view import dimension
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.text.tags.pipeline import PipelineUnavailable


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask how a share differs from a preference, what the rim of the radar means, and what a score does not show."""
    layer = spot.layer
    try:
        tagged = specialization(spot.trace)
    except PipelineUnavailable:
        pass
    else:
        yield checks.share_or_preference(layer, tagged.raw[layer], tagged.even[layer])
    untagged = [None] * len(spot.trace)
    every = trace_specialization(spot.trace, untagged, untagged)
    for id in ("self", "cls", "long_range"):
        values = (every.values(id, False)[layer], every.values(id, True)[layer])
        yield checks.rim_of_radar(layer, dimension(id), values)
    yield checks.what_shows_need(None)
    yield checks.same_as_distance()


def to_pick(spot: Spot) -> Iterator[Question | None]:
    """Ask a class to pick a head out of all, on another sentence; ask about parts of speech only with a tagger."""
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
