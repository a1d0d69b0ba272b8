"""Words with two meanings, a sentence for each: to see what the layers make of one token."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TwoMeanings:
    """A word as it stands in two sentences that tell its meanings apart."""

    word: str
    first: str
    second: str


# The first that a model has as one token, the same in both sentences, is the one it is shown.
TWO_MEANINGS = (
    TwoMeanings("March", "They met in March.", "They march to the town."),
    TwoMeanings("fall", "They fall down.", "It was in the fall of that year."),
    TwoMeanings("second", "He waited for a second.", "It was her second book."),
    TwoMeanings("mean", "What do you mean?", "He was mean and cruel."),
    TwoMeanings("bank", "She sat on the bank of the river.", "She took her money to the bank."),
    TwoMeanings("left", "He left the house.", "He turned left."),
)
