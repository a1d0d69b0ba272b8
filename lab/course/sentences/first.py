"""The sentences of the first page, each with a blank, words to guess from, and one word that is worth cutting off."""

from __future__ import annotations

from dataclasses import dataclass

# The blank in a text, written as a line, as a learner would type it.
BLANK = "_"


@dataclass(frozen=True)
class First:
    """A sentence with one :data:`BLANK`.

    Attributes
    ----------
    text
        The sentence.
    offered
        Four words to guess from: the likely word, and three words that are wrong or unlikely, each in its own way.
    cut
        The word to cut off from the blank.
    """

    text: str
    offered: tuple[str, str, str, str]
    cut: str

    @property
    def short(self) -> str:
        """The beginning of the sentence, as the label of a button."""
        return f"{' '.join(self.text.split()[:3])} …"


# In one sentence either way is enough: without the direct way from "dogs" to the blank, or without the ways around, the
# word stays the best one; without both it does not.
FIRST = (
    First(f"The capital of France is {BLANK}.", ("london", "paris", "french", "big"), "France"),
    First(f"The teacher told the students that {BLANK} had passed the exam.", ("he", "they", "she", "it"), "students"),
    First(f"The dogs that chased the cat {BLANK} tired.", ("was", "were", "is", "got"), "dogs"),
    First(f"The bird built its {BLANK} in a tree.", ("house", "nest", "egg", "song"), "bird"),
    First(f"She opened the {BLANK} and walked in.", ("book", "window", "door", "shop"), "opened"),
)
