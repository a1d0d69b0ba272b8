"""The questions of lesson 8 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.layers.feed_forward import most_active
from lab.analysis.layers.sublayers import sublayer_changes
from lab.course.words import told_apart
from lab.lessons.feed_forward import blank_checks, checks, residual_figures
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask which tokens the network reads, and why LayerNorm and the sum are there."""
    norms = residual_figures.norms(spot.trace, spot.layer, spot.query)
    yield checks.scaled_input(list(norms.values())[-1])
    yield blank_checks.another_word(spot.trace, spot.layer, spot.query)
    yield checks.without_sum(told_apart(spot.trace, spot.query))


def to_pick(spot: Spot) -> Iterator[Question | None]:
    """Ask a class to pick a token out of all tokens of another sentence."""
    yield checks.most_changed(spot.trace, sublayer_changes(spot.trace), spot.layer)
    yield checks.most_exciting_token(spot.trace, spot.traced, most_active(spot.traced, spot.query, 1)[0])
