"""A word in two sentences, to see how the layers change the word's vector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TwoMeanings:
    """A word in two sentences."""

    word: str
    first: str
    second: str
