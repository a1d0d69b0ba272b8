"""The library's answers follow the definitions that the docstrings state.

Compared on the characters that have had one category from Unicode 3.2 (2002) to this Python's
edition, so that no edition of the tables can be the reason for a difference.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest

from lab.text.tokenizers import characters

OLD = unicodedata.ucd_3_2_0
SETTLED = [
    character
    for character in map(chr, range(0x30000))
    if OLD.category(character) == unicodedata.category(character) not in {"Cn", "Cs"}
]


def category(character: str) -> str:
    return unicodedata.category(character)


def cjk(character: str) -> bool:
    blocks = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2F800, 0x2FA1F))
    return any(first <= ord(character) <= last for first, last in blocks)


def control(character: str) -> bool:
    return character in "\0\ufffd" or (category(character)[0] == "C" and character not in "\t\n\r")


def white_space(character: str) -> bool:
    return character.isspace() and character not in "\x1c\x1d\x1e\x1f"


def punctuation(character: str) -> bool:
    ascii_sign = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_sign or category(character)[0] == "P"


def word_character(character: str) -> bool:
    kind = category(character)
    joiner = character in "\u200c\u200d"
    enclosed = "Ⓐ" <= character <= "ⓩ"  # Alphabetic, though symbols by category
    return kind[0] in "LM" or kind in {"Nd", "Nl", "Pc"} or joiner or enclosed


@pytest.mark.parametrize(
    ("ours", "definition"),
    [
        (characters.is_control, control),
        (characters.is_whitespace, white_space),
        (characters.is_punctuation, punctuation),
        (characters.is_cjk, cjk),
        (characters.is_nonspacing_mark, lambda character: category(character) == "Mn"),
        (characters.is_letter, lambda character: category(character)[0] == "L"),
        (characters.is_number, lambda character: category(character)[0] == "N"),
        (characters.is_word_character, word_character),
        (characters.decompose, lambda character: unicodedata.normalize("NFD", character)),
        (characters.combining_class, unicodedata.combining),
    ],
)
def test_follows_its_definition(ours: Callable[[str], object], definition: Callable[[str], object]) -> None:
    assert [character for character in SETTLED if ours(character) != definition(character)] == []


def test_lowercase_looks_at_one_character_only() -> None:
    assert (characters.lowercase("Σ"), characters.lowercase("İ"), characters.lowercase("ß")) == ("σ", "i̇", "ß")


def test_the_editions_differ_as_the_docstring_says() -> None:
    assert not characters.is_punctuation("\u2e52")
    assert characters.is_letter("\U00011f02")
