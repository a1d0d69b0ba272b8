"""Sentences in which a singular noun is nearer to the verb than the plural subject (Linzen et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass

# The form that grammar requires after a plural subject, and the form that would fit the nearer noun.
FORMS = ("were", "was")


@dataclass(frozen=True)
class Attraction:
    """A sentence with ``_`` in place of its verb.

    Attributes
    ----------
    text
        The sentence.
    subject, nearer
        The plural subject, and the singular noun between it and the verb.
    """

    text: str
    subject: str
    nearer: str

    @property
    def name(self) -> str:
        """The two nouns, which identify the sentence."""
        return f"{self.subject} … {self.nearer}"

    def filled(self, form: str) -> str:
        """The sentence with a form of the verb."""
        return self.text.replace("_", form)


# All sentences were written down before any model read them, and none was left out afterwards.
ATTRACTIONS = (
    Attraction("The keys to the cabinet _ on the table.", "keys", "cabinet"),
    Attraction("The dogs that chased the cat _ tired.", "dogs", "cat"),
    Attraction("The boys near the tree _ playing.", "boys", "tree"),
    Attraction("The books on the shelf _ old.", "books", "shelf"),
    Attraction("The teachers behind the child _ tall.", "teachers", "child"),
    Attraction("The pictures of the house _ beautiful.", "pictures", "house"),
)
