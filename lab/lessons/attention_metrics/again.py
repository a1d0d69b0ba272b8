"""The questions of lesson 5 that return later."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.effective import effective_keys
from lab.analysis.heads.metrics import one_head
from lab.analysis.heads.values import is_causal
from lab.lessons.attention_metrics import checks, what_if
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask what a maximum leaves open, and over how many tokens a row is spread."""
    weights, causal = attention_map(spot.traced, spot.head), is_causal(spot.trace)
    yield checks.maximum_is_one_row((spot.layer, spot.head), one_head(weights, causal=causal))
    keys = float(effective_keys(weights[None])[0, spot.query])
    yield checks.one_word_more(keys, float(weights[spot.query].max()))
    yield what_if.why_divided(len(spot.trace))


def to_pick(spot: Spot) -> Iterator[Question | None]:
    """Ask a class to pick a head out of all heads of the layer, on another sentence."""
    heads = range(spot.trace.model.config.heads)
    yield checks.most_confident(spot.layer, np.array([attention_map(spot.traced, h).max(axis=1).mean() for h in heads]))
