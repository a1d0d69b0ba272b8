"""The classes of characters according to the ``tokenizers`` library.

The definitions are short and come from Unicode, but each implementation ships its own edition of
the Unicode tables, and the library ships several old and new ones. For example, U+2E52, a sign of Unicode 14, is
punctuation in Python 3.11 but not in the library; U+11F02, a letter of Unicode 15, is a letter in the library but not
in Python 3.11. A tokenizer explained here must give exactly the tokens that the model gets, so the
library's tables are used: each function queries the library for one character and caches the
result. ``tests/text/tokenizers/test_characters.py`` compares the stated definitions with
``unicodedata`` for characters on which the editions cannot differ.

Each function takes one character (a ``str`` of length 1, never a lone surrogate).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from tokenizers import Regex, normalizers, pre_tokenizers

_REMEMBERED: Final = 1 << 14
_CLEAN: Final = normalizers.BertNormalizer(
    clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False
)
_STRIP: Final = normalizers.BertNormalizer(
    clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False
)
_SPACE_CJK: Final = normalizers.BertNormalizer(
    clean_text=False, handle_chinese_chars=True, strip_accents=False, lowercase=False
)
_LOWERCASE: Final = normalizers.Lowercase()
_NFD: Final = normalizers.NFD()
_BERT: Final = pre_tokenizers.BertPreTokenizer()
_WORD: Final = pre_tokenizers.Whitespace()
_LETTER: Final = pre_tokenizers.Split(Regex(r"\p{L}"), "removed")
_NUMBER: Final = pre_tokenizers.Split(Regex(r"\p{N}"), "removed")

# U+0345 has the highest canonical combining class, 240, so every other mark is sorted before it.
_LAST_MARK: Final = "\u0345"


@lru_cache(_REMEMBERED)
def is_control(character: str) -> bool:
    """True if BERT deletes the character: Cc, Cf, Co (not tab, newline, return), NUL or U+FFFD."""
    return _CLEAN.normalize_str(character) == ""


@lru_cache(_REMEMBERED)
def is_whitespace(character: str) -> bool:
    """True if the character has Unicode's White_Space property."""
    return not _BERT.pre_tokenize_str(character)


@lru_cache(_REMEMBERED)
def is_punctuation(character: str) -> bool:
    """True if BERT makes the character a separate word: ASCII symbols and category P."""
    return len(_BERT.pre_tokenize_str(f"a{character}a")) == 3


@lru_cache(_REMEMBERED)
def is_cjk(character: str) -> bool:
    """True if BERT puts spaces around the character: CJK ideographs, not kana and not hangul.

    The library leaves out U+2B820 to U+2B91F, which the code released with BERT includes.
    """
    return _SPACE_CJK.normalize_str(character) != character


@lru_cache(_REMEMBERED)
def is_nonspacing_mark(character: str) -> bool:
    """True if the character is an accent in BERT's sense: category Mn."""
    return _STRIP.normalize_str(character) == ""


@lru_cache(_REMEMBERED)
def is_letter(character: str) -> bool:
    r"""True if the character is matched by ``\p{L}``: category L."""
    return not _LETTER.pre_tokenize_str(character)


@lru_cache(_REMEMBERED)
def is_number(character: str) -> bool:
    r"""True if the character is matched by ``\p{N}``: category N."""
    return not _NUMBER.pre_tokenize_str(character)


@lru_cache(_REMEMBERED)
def is_word_character(character: str) -> bool:
    r"""True if the character is matched by ``\w``: letters, marks, decimal digits, connectors."""
    return len(_WORD.pre_tokenize_str(f"a{character}")) == 1 and not is_whitespace(character)


@lru_cache(_REMEMBERED)
def lowercase(character: str) -> str:
    """Return the character in lower case, one or more characters; neighbours of the character do not matter."""
    return _LOWERCASE.normalize_str(character)


@lru_cache(_REMEMBERED)
def decompose(character: str) -> str:
    """Return the canonical decomposition (NFD) of a single character, which is one or more characters."""
    return _NFD.normalize_str(character)


@lru_cache(_REMEMBERED)
def combining_class(character: str) -> int:
    """Return the canonical combining class, which orders the marks of one letter; 0 for a starter.

    Unicode never changes a combining class, so Python's value is right for every mark that the library
    knows. The library knows a mark if it sorts the mark before U+0345.
    """
    known = _NFD.normalize_str(_LAST_MARK + character) == decompose(character) + _LAST_MARK
    return unicodedata.combining(character) if known else 0
