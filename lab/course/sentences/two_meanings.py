"""Words with two meanings, with a sentence for each meaning, to see how the layers change the word's vector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TwoMeanings:
    """A word in two sentences, one for each meaning; the sentence ``alike`` has the word in its first meaning again.

    ``alike`` is for comparison: it shows how far a change of sentence alone moves the word. It may be empty.
    """

    word: str
    first: str
    second: str
    alike: str = ""


# For each model, the lab takes the first word that is one token, and the same token in both sentences.
TWO_MEANINGS = (
    TwoMeanings("March", "They met in March.", "They march to the town.", "The war ended in March."),
    TwoMeanings("fall", "They fall down.", "It was in the fall of that year.", "The stones fall into the sea."),
    TwoMeanings("second", "He waited for a second.", "It was her second book.", "She stopped for a second."),
    TwoMeanings("mean", "What do you mean?", "He was mean and cruel.", "I know what you mean."),
    TwoMeanings(
        "bank",
        "She sat on the bank of the river.",
        "She took her money to the bank.",
        "They walked along the bank of the lake.",
    ),
    TwoMeanings("left", "He left the house.", "He turned left.", "She left the room early."),
)
