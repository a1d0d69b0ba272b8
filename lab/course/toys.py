"""Which steps have no meaning for a toy, whose words are letters: the only place that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NotForToys:
    """A step that is not offered for a toy: ``why``, as a sentence, and the nearest step that is, ``instead``."""

    why: str
    instead: str


_ONE_SENTENCE = "A toy reads one sentence here, so all its tokens are in one segment."
_NO_MEANING = "Letters have no meaning."
_BLANKS = "The toy only fills blanks."
# By the id of the lesson, then by the name of the step. A bench whose steps all take toys has no entry.
NOT_FOR_TOYS: Mapping[str, Mapping[str, NotForToys]] = {
    "embeddings": {
        "King and queen": NotForToys(_NO_MEANING, "Like words"),
        "Segments": NotForToys(_ONE_SENTENCE, "Vectors"),
    },
    "head-specialization": {
        "Tagged sentence": NotForToys("Letters have no parts of speech.", "Seven metrics"),
        "Grammar": NotForToys("Letters have no grammar.", "Named patterns"),
    },
    "feed-forward": {
        "In the blank": NotForToys("This toy predicts no words.", "Excited by"),
    },
    "masked-language-model": {
        "Without the mask": NotForToys(_BLANKS, "Hide words"),
        "Next token": NotForToys(_BLANKS, "Hide words"),
        "Sampling": NotForToys(_BLANKS, "Softmax"),
        "Every place": NotForToys(_BLANKS, "Hide words"),
        "Likelihood": NotForToys(_BLANKS, "Softmax"),
        "Next sentence": NotForToys(_BLANKS, "Hide words"),
    },
}  # fmt: skip


def not_for_toys(page: str) -> Mapping[str, NotForToys]:
    """Return the steps of a page, by the id of its lesson, that are not offered for a toy."""
    return NOT_FOR_TOYS.get(page, {})
