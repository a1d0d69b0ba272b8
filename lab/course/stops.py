"""The stops on the way from a text to a word, and the lessons about each: the map and the strip follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stop:
    """One stop: its name, and the ids of the lessons about it; ``repeats``: each layer has it."""

    name: str
    lessons: tuple[str, ...]
    repeats: bool = False


STOPS = (
    Stop("Tokens", ("tokenization",)),
    Stop("Vectors", ("embeddings",)),
    Stop(
        "Attention",
        (
            "self-attention", "multi-head-attention", "attention-metrics", "head-specialization",
            "inter-sentence-attention",
        ),
        repeats=True,
    ),
    Stop("Feed-forward", ("feed-forward",), repeats=True),
    Stop("Word", ("masked-language-model",)),
)  # fmt: skip


def stop_of(lessons: Sequence[str]) -> Stop | None:
    """The stop that all of these ``lessons`` are about; None where they are about several, or where there are none."""
    return next((stop for stop in STOPS if lessons and set(lessons) <= set(stop.lessons)), None)
