"""Sentences with a blank, words to choose from, and one word in each sentence that decides the answer."""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.words.in_blank import BLANK
from lab.course.sentences.examples import example_named


@dataclass(frozen=True)
class Blank:
    """A sentence with one :data:`BLANK`.

    Attributes
    ----------
    text
        The sentence.
    offered
        Four words to choose from. One word is grammatical and likely; the others are wrong or unlikely, each in its own
        way.
    change
        A word of the sentence, and a replacement that changes the answer.
    answers
        The form that grammar requires in the blank, in the past tense: before the change, and after it.
    """

    text: str
    offered: tuple[str, str, str, str]
    change: tuple[str, str]
    answers: tuple[str, str] = ("were", "was")

    @property
    def changed(self) -> str:
        """The sentence after the change."""
        return self.text.replace(*self.change, 1)

    def filled(self, changed: bool = False) -> str:
        """The sentence, before or after the change, with its answer in the blank."""
        return (self.changed if changed else self.text).replace(BLANK, self.answers[changed])


# For each model, the lab takes the first blank to which the model has two answers.
BLANKS = (
    Blank(example_named("Agreement").text, ("is", "was", "were", "seen"), ("boys", "boy")),
    Blank("The dogs [MASK] barking at the children.", ("is", "was", "were", "made"), ("dogs", "dog")),
    Blank(example_named("Agreement across a phrase").text, ("is", "was", "were", "had"), ("keys", "key")),
)
