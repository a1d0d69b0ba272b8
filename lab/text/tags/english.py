"""Test whether a text looks English, by its script and by each language's most frequent small words.

The lists of words are our own: spaCy has longer lists, but importing them for twenty languages takes four seconds.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

SMALL_WORDS = Path(__file__).with_name("small_words.txt")
ENGLISH = "English"
_BLOCK = re.compile(r"\[(.+)\]\n([^\[#]+)")
_WORD = re.compile(r"[^\W\d_]+")


def looks_english(text: str) -> bool:
    """Tell a text that is clearly not English from one that may be.

    A text does not look English if most of its letters belong to another script, or if more than a quarter of its words
    are small words of one other language. There must be at least two of these words, because one may be part of a name
    (Juan de Silva), and more of them than English small words. Any other text looks English: a name, a formula, an
    empty text.
    """
    letters = [each for each in text if each.isalpha()]
    if len(letters) > 2 and sum(map(_latin, letters)) < len(letters) / 2:
        return False
    words = [each.lower() for each in _WORD.findall(text)]
    known = small_words()
    english = sum(word in known[ENGLISH] for word in words)
    foreign = max(sum(word in own - known[ENGLISH] for word in words) for own in known.values())
    return foreign <= max(1, english, len(words) / 4)


def _latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))


@cache
def small_words() -> dict[str, frozenset[str]]:
    """Return the small words of each language for which the lab has a list."""
    blocks = _BLOCK.findall(SMALL_WORDS.read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in blocks}
