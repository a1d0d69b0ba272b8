"""The drawing at the opening of a lesson, made of numbers of one real run by :mod:`lab.figures.covers`."""

from __future__ import annotations

from pathlib import Path

COVER_MODEL, COVER_TEXT = "lab-minilm", "The cat sat on the mat because it was tired. Then it slept."
COVER = f"A drawing made of numbers of {COVER_MODEL} on “{COVER_TEXT}”"


def cover_of(lesson: str) -> Path:
    """The file of a lesson's drawing, by the lesson's id."""
    return Path(__file__).with_name("covers") / f"{lesson}.png"
