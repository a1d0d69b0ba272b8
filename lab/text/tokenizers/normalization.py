"""The normalizer of BERT, one stage at a time, which keeps the original place of each character.

Devlin et al. 2019 say only that the input is WordPiece-tokenized. The stages come from the
``BasicTokenizer`` in the code released with the paper (``tokenization.py``, google-research/bert),
as implemented in the ``BertNormalizer`` of the ``tokenizers`` library.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from tokenizers import normalizers

from lab.text.tokenizers import characters
from lab.text.tokenizers.pieces import Span

StageName = Literal["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"]


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text with the original place of each character.

    Attributes
    ----------
    text
        The current text, m characters.
    spans
        For each of the m characters, its range in the original text.
    """

    text: str
    spans: tuple[Span, ...]

    @classmethod
    def original(cls, text: str) -> AlignedText:
        """Return a text before any change: character i comes from (i, i + 1)."""
        return cls(text, tuple((i, i + 1) for i in range(len(text))))

    def cut(self, start: int, end: int) -> AlignedText:
        """Characters ``start`` to ``end`` (exclusive), with their places in the original text."""
        return AlignedText(self.text[start:end], self.spans[start:end])

    def span(self, start: int, end: int) -> Span:
        """Return the range in the original text of characters ``start`` to ``end`` (exclusive).

        As in the library, it goes from the start of the first character to the end of the last.
        """
        return self.spans[start][0], self.spans[end - 1][1]


Stage = Callable[[AlignedText], AlignedText]


def bert_stages(normalizer: normalizers.BertNormalizer) -> tuple[tuple[StageName, Stage], ...]:
    """Return the stages that a BERT normalizer's flags switch on, in the order of application.

    Parameters
    ----------
    normalizer
        ``strip_accents=None`` means "if lower-casing", as in the released code.

    Returns
    -------
    Up to four (name of the flag, function), to be applied one after the other.
    """
    strip_accents = normalizer.strip_accents
    if strip_accents is None:
        strip_accents = normalizer.lowercase
    stages: tuple[tuple[StageName, bool, Stage], ...] = (
        ("clean_text", normalizer.clean_text, clean),
        ("handle_chinese_chars", normalizer.handle_chinese_chars, space_cjk),
        ("strip_accents", strip_accents, strip_accent_marks),
        ("lowercase", normalizer.lowercase, lower),
    )
    return tuple((name, stage) for name, switched_on, stage in stages if switched_on)


def clean(aligned: AlignedText) -> AlignedText:
    """Delete control characters and turn every kind of white space into a plain space."""
    return _rebuild(
        (" " if characters.is_whitespace(character) else character, span)
        for character, span in _pairs(aligned)
        if not characters.is_control(character)
    )


def space_cjk(aligned: AlignedText) -> AlignedText:
    """Put a space before and after each CJK ideograph, so that each becomes a word."""
    return _rebuild(
        (spaced, span)
        for character, span in _pairs(aligned)
        for spaced in (f" {character} " if characters.is_cjk(character) else character)
    )


def lower(aligned: AlignedText) -> AlignedText:
    """Lower-case each character separately; ``"İ"`` becomes two characters that share its span."""
    return _rebuild(
        (lowered, span) for character, span in _pairs(aligned) for lowered in characters.lowercase(character)
    )


def strip_accent_marks(aligned: AlignedText) -> AlignedText:
    """Decompose (NFD, Unicode Standard Annex 15) and delete the non-spacing marks."""
    if aligned.text.isascii():
        return aligned
    return _rebuild(
        (character, span)
        for character, span in _pairs(_decompose(aligned))
        if not characters.is_nonspacing_mark(character)
    )


def compose(aligned: AlignedText) -> AlignedText:
    """Apply NFC (Unicode Standard Annex 15): join a letter and its marks if there is one character for them.

    Like the library, count for each character the characters that it was made of, and assign the original spans by
    these counts, in reading order.
    """
    if aligned.text.isascii():
        return aligned
    kept: list[tuple[str, int]] = []  # a character, and the change of the text's length by it
    start, blocked = -1, 0  # the last character that a mark can join; the class of the last mark that did not
    for combining, part, first in _decomposed(aligned.text):
        more = 0 if first else 1
        joint = unicodedata.normalize("NFC", kept[start][0] + part) if start >= 0 else ""
        if len(joint) == 1 and (start == len(kept) - 1 or blocked < combining):
            kept[start] = (joint, kept[start][1] + more - 1)
            continue
        if combining == 0:
            start, blocked = len(kept), 0
        else:
            blocked = combining
        kept.append((part, more))

    place, pairs = 0, []
    for character, more in kept:
        pairs.append((character, aligned.spans[max(place - 1, 0) if more > 0 else place]))
        place += 1 - more if more <= 0 else 0
    return _rebuild(iter(pairs))


def _decompose(aligned: AlignedText) -> AlignedText:
    """Apply NFD: decompose each character, then sort runs of marks by combining class.

    Sorting may move a mark beyond the edge of its original character. The library then
    assigns the original spans in reading order: the first part of each decomposition gets
    the next span, and every other part repeats the last span. This function does the same.
    """
    source = iter(aligned.spans)
    span = (0, 0)
    pairs: list[tuple[str, Span]] = []
    for _, part, takes_next in _decomposed(aligned.text):
        span = next(source) if takes_next else span
        pairs.append((part, span))
    return _rebuild(iter(pairs))


def _decomposed(text: str) -> list[tuple[int, str, bool]]:
    """Yield the parts of all characters in order: combining class, part, and true for the first part of a character."""
    ordered: list[tuple[int, str, bool]] = []
    run_start = 0
    for character in text:
        for index, part in enumerate(characters.decompose(character)):
            combining = characters.combining_class(part)
            if combining == 0:
                ordered[run_start:] = sorted(ordered[run_start:], key=lambda entry: entry[0])
                run_start = len(ordered)
            ordered.append((combining, part, index == 0))
    ordered[run_start:] = sorted(ordered[run_start:], key=lambda entry: entry[0])
    return ordered


def _pairs(aligned: AlignedText) -> Iterator[tuple[str, Span]]:
    return zip(aligned.text, aligned.spans, strict=True)


def _rebuild(pairs: Iterator[tuple[str, Span]]) -> AlignedText:
    kept = tuple(pairs)
    return AlignedText("".join(character for character, _ in kept), tuple(span for _, span in kept))
