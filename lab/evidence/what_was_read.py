"""How often the texts that taught the embedded models have a word beside another word, for prepared sentences.

The counts ship as ``data/what_was_read.json``, written by ``python -m training.evaluation.what_was_read``, because the
texts do not ship. Each prepared sentence has one blank, and the words counted for it. Upper and lower case count alike.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "data" / "what_was_read.json"
FIRST_WITHIN, NEAR_WITHIN = 60, 40  # letters between the two words, spaces and signs included
BLANK = "_"


def _pattern(words: Iterable[str]) -> str:
    return rf"\b({'|'.join(re.escape(word.lower()) for word in words)})\b"


def first_after(sentence: str, cue: str, words: Sequence[str]) -> list[str]:
    """For each ``cue`` in a sentence in lower case, the first of ``words`` that begins at most 60 letters after it."""
    return re.findall(rf"\b{re.escape(cue)}\b(?=.{{0,{FIRST_WITHIN}}}?{_pattern(words)})", sentence)


def near(sentence: str, cue: str, words: Sequence[str]) -> list[str]:
    """Each occurrence of ``words`` in a sentence in lower case that has ``cue`` at most 40 letters before or after."""
    cues = [each.span() for each in re.finditer(_pattern([cue]), sentence)]
    return [
        each[1]
        for each in re.finditer(_pattern(words), sentence)
        if any(0 <= max(each.start() - end, start - each.end()) <= NEAR_WITHIN for start, end in cues)
    ]


def next_in_phrase(sentence: str, cue: str, words: Sequence[str]) -> list[str]:
    """Each of ``words`` that follows the phrase ``cue`` at once, in a sentence in lower case."""
    return re.findall(rf"\b{re.escape(cue)} {_pattern(words)}", sentence)


@dataclass(frozen=True)
class Definition:
    """A way to count words beside a cue.

    Attributes
    ----------
    meaning
        The definition in one sentence.
    place
        Where the word is, in words: "near {cue}".
    count
        Returns the counted words of a sentence in lower case, given the cue and the words.
    """

    meaning: str
    place: str
    count: Callable[[str, str, Sequence[str]], list[str]]


DEFINITIONS: Mapping[str, Definition] = {
    "first": Definition(
        f"For each occurrence of the cue, the first of the words that begins at most {FIRST_WITHIN} letters after it, "
        "in the same sentence.",
        "soon after “{cue}”",
        first_after,
    ),
    "near": Definition(
        f"Each occurrence of a word that has the cue at most {NEAR_WITHIN} letters before or after it, in the same "
        "sentence.",
        "near “{cue}”",
        near,
    ),
    "phrase": Definition(
        "Each occurrence of a word directly after the cue, word for word, in the same sentence.",
        "directly after “{cue}”",
        next_in_phrase,
    ),
}


@dataclass(frozen=True)
class Prepared:
    """A sentence with one :data:`BLANK`, and the words that are counted beside its cue.

    Attributes
    ----------
    by
        The definition, by its name in :data:`DEFINITIONS`.
    words
        The counted words, the right one among them. Names have a capital.
    right
        The right word; "" if several words fit.
    left_suffices
        Whether the part before the blank is enough to answer, as for a model that reads from left to right.
    """

    text: str
    by: str
    cue: str
    words: tuple[str, ...]
    right: str = ""
    left_suffices: bool = True

    @property
    def place(self) -> str:
        """Where the words were counted: "near “Italy”"."""
        return DEFINITIONS[self.by].place.format(cue=self.cue)


# The words are the right one, those that one of the embedded models prefers here, and others of their kind.
PREPARED = (
    Prepared(
        "A year has twelve _.", "phrase", "twelve", ("months", "years", "weeks", "days", "hours", "children"), "months"
    ),
    Prepared(
        "The capital of Italy is _.",
        "near",
        "Italy",
        ("Rome", "Milan", "Florence", "Venice", "Naples", "Turin", "Pisa"),
        "Rome",
    ),
    Prepared("The capital of France is _.", "near", "France", ("Paris", "Lyon", "Strasbourg", "Brussels"), "Paris"),
    Prepared(
        "Paris is a city in _.", "near", "Paris", ("France", "Europe", "England", "Canada", "London", "Paris"), "France"
    ),
    Prepared(
        "The capital of Canada is _.",
        "near",
        "Canada",
        ("Ottawa", "Toronto", "Vancouver", "Quebec", "Ontario"),
        "Ottawa",
    ),
    Prepared(
        "The capital of Australia is _.", "near", "Australia", ("Canberra", "Sydney", "Melbourne", "Perth"), "Canberra"
    ),
    Prepared("The nurse was tired because _ had worked all night.", "first", "nurse", ("he", "she")),
    Prepared("The doctor was tired because _ had worked all night.", "first", "doctor", ("he", "she")),
    Prepared("Two plus two is _.", "phrase", "two plus two is", ("four", "two", "one", "three", "zero"), "four"),
    Prepared(
        "A spider has _ legs.",
        "near",
        "legs",
        ("eight", "two", "three", "four", "six", "no", "many"),
        "eight",
        left_suffices=False,
    ),
    Prepared("The opposite of hot is _.", "near", "hot", ("cold", "hot", "water", "cool", "dark"), "cold"),
    Prepared("The color of snow is _.", "near", "snow", ("white", "blue", "red", "green", "black", "hot"), "white"),
    Prepared("Cows drink _.", "near", "cows", ("water", "milk", "food", "meat"), "water"),
    Prepared("The sun rises in the _.", "near", "sun", ("east", "west", "sky", "morning", "sun", "moon"), "east"),
    Prepared(
        "The largest planet is _.",
        "near",
        "planet",
        ("Jupiter", "Pluto", "Neptune", "Mars", "Saturn", "Venus", "Earth"),
        "Jupiter",
    ),
    Prepared("Dogs bark, and cats _.", "near", "cats", ("bark", "talk", "sing", "play", "sleep", "run")),
    Prepared("Once upon a _.", "phrase", "once upon a", ("time", "day", "moment", "while"), "time"),
)


@dataclass(frozen=True)
class TextsRead:
    """The texts that were counted: documents, sentences and words."""

    documents: int
    sentences: int
    words: int


@dataclass(frozen=True)
class WhatWasRead:
    """The counts: for each prepared sentence, by its text, how often the texts have each of its words."""

    command: str
    texts: TextsRead
    counts: Mapping[str, Mapping[str, int]]


class Tally:
    """Counts the words of all prepared sentences, one sentence of the texts after the other."""

    def __init__(self, prepared: Sequence[Prepared] = PREPARED) -> None:
        self._counted = [(each, DEFINITIONS[each.by].count, each.cue.lower(), Counter[str]()) for each in prepared]
        self.texts = TextsRead(0, 0, 0)

    def read(self, sentences: Sequence[str]) -> None:
        """Count one more document."""
        for sentence in sentences:
            lower = sentence.lower()
            for prepared, count, cue, found in self._counted:
                if cue in lower:
                    found.update(count(lower, cue, prepared.words))
        self.texts = replace(
            self.texts,
            documents=self.texts.documents + 1,
            sentences=self.texts.sentences + len(sentences),
            words=self.texts.words + sum(len(each.split()) for each in sentences),
        )

    def counts(self) -> dict[str, dict[str, int]]:
        """The counts so far, by prepared sentence and word, in the order in which they were prepared."""
        return {
            prepared.text: {word: found[word.lower()] for word in prepared.words}
            for prepared, _, _, found in self._counted
        }


@cache
def shipped() -> WhatWasRead:
    """Return the counts that ship."""
    record = json.loads(FILE.read_text("utf-8"))
    return WhatWasRead(record["command"], TextsRead(**record["texts"]), record["counts"])
