"""Assign tokens to words and to characters on screen, using only word ids and character offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from lab.text.tokenizers.cut_text import Span


@dataclass(frozen=True, slots=True)
class Chip:
    """A run of characters of the text that are covered by the same tokens.

    Attributes
    ----------
    text
        The characters.
    span
        Their range in the whole text.
    tokens
        Positions of the tokens that cover the characters, ascending: no token for a space between words, usually one,
        several if byte-level tokens share one character.
    """

    text: str
    span: Span
    tokens: tuple[int, ...]


def word_pieces(word_ids: Sequence[int | None]) -> tuple[tuple[int, ...], ...]:
    """Group the tokens of a sequence into words.

    Parameters
    ----------
    word_ids
        The word of each of n tokens, or None for a special token, as in the library's ``Encoding.word_ids``.
        In a pair the ids start again at 0 for the second text, so only neighbouring tokens are grouped.

    Returns
    -------
    For each word in order, the positions of its tokens. Special tokens belong to no word.
    """
    runs = groupby(enumerate(word_ids), key=lambda entry: entry[1])
    return tuple(tuple(position for position, _ in run) for word, run in runs if word is not None)


def chips(text: str, offsets: Sequence[Span]) -> tuple[Chip, ...]:
    """Cut a text into runs of characters that are covered by the same tokens.

    Parameters
    ----------
    text
        The text that the offsets point into.
    offsets
        The characters ``(start, end)`` of each of n tokens. The spans may overlap and repeat. A token with an
        empty span, such as a special token's (0, 0), has no characters and is on no chip.

    Returns
    -------
    Chips in reading order; joined, their texts give ``text`` again.

    Raises
    ------
    ValueError
        If a span is outside the text, because the offsets belong to another text.
    """
    starting: dict[int, list[int]] = {}
    ending: dict[int, list[int]] = {}
    for token, (start, end) in enumerate(offsets):
        if not 0 <= start <= end <= len(text):
            raise ValueError(
                f"Token {token} has the offsets ({start}, {end}), but the text has {len(text)} "
                "characters. Pass the very text that was tokenized."
            )
        if start < end:
            starting.setdefault(start, []).append(token)
            ending.setdefault(end, []).append(token)
    result: list[Chip] = []
    covering: set[int] = set()
    cuts = sorted({0, len(text), *starting, *ending})
    for start, end in pairwise(cuts):
        covering.difference_update(ending.get(start, ()))
        covering.update(starting.get(start, ()))
        result.append(Chip(text[start:end], (start, end), tuple(sorted(covering))))
    return tuple(result)
