"""Sentences of letters such as "c e b", a table that validates the sentences, and a table of statistics.

A word of a toy is a number in the data and a letter in its text: 1 is "a", 2 is "b".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np

from lab.toy.settings import check_settings

if TYPE_CHECKING:
    import pandas as pd

# The least length of a sentence: the attention of a single token is always 1, so it shows nothing.
SHORTEST = 2


@dataclass(frozen=True)
class ToyData:
    """``sentences`` of token ids, and the settings with which they were made.

    Words are ``vocabulary`` numbers from ``first`` on; a word's token id is the number itself. The words of a toy begin
    at 1, the words of a trained model at 0. Data made by hand may violate the settings; :func:`validate` checks them.
    """

    sentences: tuple[tuple[int, ...], ...]
    vocabulary: int
    max_length: int
    count: int
    seed: int
    first: int = 1

    @property
    def last(self) -> int:
        """The largest word."""
        return self.first + self.vocabulary - 1


class NotASentence(ValueError):
    """Raised if a toy cannot read the typed text; the message is written for the learner."""


def typed(text: str, vocabulary: int, max_length: int) -> tuple[int, ...]:
    """Return the sentence of letters in a typed text, with or without spaces between the letters.

    Raises
    ------
    NotASentence
        If a letter is outside the vocabulary, or if there are too few or too many letters.
    """
    letters = [each for each in text if not each.isspace()]
    known = ascii_letters[:vocabulary]
    if strange := next((each for each in letters if each not in known), None):
        raise NotASentence(
            f"“{strange}” is not a word of this toy. Its vocabulary has {vocabulary} words, {known[0]} to {known[-1]}."
        )
    if not SHORTEST <= len(letters) <= max_length:
        raise NotASentence(f"This sentence has {len(letters)} letters. A toy reads {SHORTEST} to {max_length} here.")
    return tuple(known.index(each) + 1 for each in letters)


def generate(vocabulary: int, max_length: int, count: int, seed: int) -> ToyData:
    """Draw ``count`` sentences: lengths uniform from 2 to ``max_length``, words uniform and independent.

    A seed always gives the same sentences, and a larger ``count`` only adds more sentences. Raises
    :class:`lab.toy.settings.SettingError` for a setting out of bounds.
    """
    check_settings(vocabulary=vocabulary, max_length=max_length, count=count, seed=seed)
    # PCG64 is named, because numpy may change the generator of default_rng, and a shared link must keep its sentences.
    generator = np.random.Generator(np.random.PCG64(seed))

    def sentence() -> tuple[int, ...]:
        length = generator.integers(SHORTEST, max_length, endpoint=True)
        return tuple(generator.integers(1, vocabulary, length, endpoint=True).tolist())

    return ToyData(tuple(sentence() for _ in range(count)), vocabulary, max_length, count, seed)


def as_text(sentence: tuple[int, ...]) -> str:
    """Write a sentence in letters: ``(3, 5, 2)`` is ``"c e b"``."""
    return " ".join(letter(word) for word in sentence)


def letter(word: int) -> str:
    """Return the letter of a word: 1 is ``"a"``, 26 is ``"z"``, 27 is ``"A"``.

    Letters keep tokens from being mistaken for places, which are numbers.
    """
    return ascii_letters[word - 1]


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_integer(value: object) -> bool:
    # True and False are integers in Python, but not token ids.
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _ids(data: ToyData) -> list[object]:
    return [value for sentence in data.sentences for value in sentence]


def _words(data: ToyData) -> list[int]:
    """Return the values that are words of the vocabulary; other values, which faulty data may have, are left out."""
    return [int(v) for s in data.sentences for v in s if _is_integer(v) and data.first <= v <= data.last]


# The result of a check: the expectation, the finding, and true if they agree.
_Result = tuple[str, str, bool]


def _check_missing(data: ToyData) -> _Result:
    missing = sum(_is_missing(value) for value in _ids(data))
    return "0 missing", f"{missing} missing", missing == 0


def _check_type(data: ToyData) -> _Result:
    present = [value for value in _ids(data) if not _is_missing(value)]
    integers = sum(_is_integer(value) for value in present)
    return "all integers", f"{integers} of {len(present)} integers", integers == len(present)


def _check_vocabulary(data: ToyData) -> _Result:
    numbers = [value for value in _ids(data) if isinstance(value, (int, float, np.number)) and not _is_missing(value)]
    outside = sum(not data.first <= value <= data.last for value in numbers)
    found = f"{outside} outside, from {min(numbers)} to {max(numbers)}" if numbers else "no numbers"
    return f"all from {data.first} to {data.last}", found, bool(numbers) and outside == 0


def _check_lengths(data: ToyData) -> _Result:
    lengths = [len(sentence) for sentence in data.sentences]
    found = f"from {min(lengths)} to {max(lengths)}" if lengths else "no sentences"
    inside = bool(lengths) and all(SHORTEST <= length <= data.max_length for length in lengths)
    return f"from {SHORTEST} to {data.max_length}", found, inside


def _check_count(data: ToyData) -> _Result:
    return str(data.count), str(len(data.sentences)), len(data.sentences) == data.count


def _check_coverage(data: ToyData) -> _Result:
    seen = len(set(_words(data)))
    return f"all {data.vocabulary} words", f"{seen} of {data.vocabulary} words", seen == data.vocabulary


_CHECKS: dict[str, Callable[[ToyData], _Result]] = {
    "no missing values": _check_missing,
    "integer token ids": _check_type,
    "ids inside the vocabulary": _check_vocabulary,
    "sentence lengths": _check_lengths,
    "number of sentences": _check_count,
    "every word occurs": _check_coverage,
}


def validate(data: ToyData) -> pd.DataFrame:
    """Check ``data`` against its own settings: columns check, expected, found (text) and passed (bool).

    ``every word occurs`` can fail for correct data, because a few short sentences cannot contain a large
    vocabulary. All other checks pass for data made by :func:`generate`.
    """
    import pandas as pd

    rows = [(name, *check(data)) for name, check in _CHECKS.items()]
    return pd.DataFrame(rows, columns=["check", "expected", "found", "passed"])


def _entropy(counts: list[int]) -> float:
    """Shannon entropy in nats of the distribution that ``counts`` describe."""
    shares = np.array([count for count in counts if count]) / sum(counts)
    # Subtract from 0 instead of negating the sum, so that a single word has entropy 0 and not -0.
    return float(0.0 - (shares * np.log(shares)).sum())


def summarise(data: ToyData) -> pd.DataFrame:
    """Compute statistics of ``data``: columns statistic (text), value (float) and unit (text).

    The standard deviation is that of the given sentences: the sum of squares is divided by the number of sentences.
    Values that are not words of the vocabulary are not counted; if several words are equally frequent, the smallest is
    named; a word that never occurs counts as a least common word. With few tokens, the entropy is below its maximum
    even though words are drawn uniformly. Raises ValueError if there are no words.
    """
    import pandas as pd

    words = _words(data)
    if not words:
        raise ValueError("There are no words to sum up; generate some sentences first.")
    lengths = np.array([len(sentence) for sentence in data.sentences])
    occurrences = Counter(words)
    counts = [occurrences[word] for word in range(data.first, data.last + 1)]
    entropy, largest = _entropy(counts), math.log(data.vocabulary)
    rows = [
        ("sentences", len(lengths), "sentences"),
        ("tokens", len(words), "tokens"),
        ("sentence length, mean", lengths.mean(), "tokens"),
        ("sentence length, minimum", lengths.min(), "tokens"),
        ("sentence length, maximum", lengths.max(), "tokens"),
        ("sentence length, standard deviation", lengths.std(), "tokens"),
        ("most common word", counts.index(max(counts)) + data.first, "word"),
        ("frequency of the most common word", max(counts) / len(words), "share of tokens"),
        ("least common word", counts.index(min(counts)) + data.first, "word"),
        ("frequency of the least common word", min(counts) / len(words), "share of tokens"),
        ("vocabulary seen", len(occurrences) / data.vocabulary, "share of words"),
        ("entropy of the words", entropy, "nats"),
        ("largest possible entropy", largest, "nats"),
        ("entropy / largest possible", entropy / largest, "ratio"),
    ]
    return pd.DataFrame(
        [(name, float(value), unit) for name, value, unit in rows], columns=["statistic", "value", "unit"]
    )
