"""Byte-level byte-pair encoding, step by step, as in GPT-2, RoBERTa and ModernBERT.

Sennrich et al. 2016 (§3.2) learn a ranked list of merges from a corpus; a word is encoded by
applying these merges, the best-ranked first. Radford et al. 2019 (§2.2) start from bytes instead of
characters, so that no text is ever unknown; before that, they cut the text with a regular expression
that keeps merges inside words, numbers and punctuation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final

from tokenizers import Tokenizer, models, pre_tokenizers

from lab.text.tokenizers.added_tokens import Segment, is_whitespace, split_added_tokens
from lab.text.tokenizers.bpe_rules import BpeRules, read_rules
from lab.text.tokenizers.normalization import AlignedText
from lab.text.tokenizers.pieces import Piece, PieceSteps, PreToken, Span, require_encodable

# Cuts by 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
_GPT_2: Final = pre_tokenizers.ByteLevel(add_prefix_space=False)


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge, which erases the boundary between two neighbouring symbols.

    Attributes
    ----------
    rank
        The merge's place in the tokenizer's list of merges; 0 was learnt first.
    left, right
        The two symbols.
    boundary
        The erased boundary between them, in bytes from the start of the word.
    """

    rank: int
    left: str
    right: str
    boundary: int


@dataclass(frozen=True, slots=True)
class BpeWord(PreToken):
    """The encoding of one pre-token. Its ``text`` includes the space before the word, if any.

    Attributes
    ----------
    symbols
        One visible character for each UTF-8 byte of the word (:func:`byte_symbols`), from which the merges start; none
        for an added token.
    merges
        The merges in the order of their application.
    prefixed
        True if the space at the start of the word was added by ``add_prefix_space``.
    taken_whole
        True if ``ignore_merges`` took the whole word from the vocabulary.
    """

    symbols: tuple[str, ...] = ()
    merges: tuple[MergeStep, ...] = ()
    prefixed: bool = False
    taken_whole: bool = False

    def symbols_after(self, merges: int) -> tuple[str, ...]:
        """Return the symbols after the first ``merges`` merges; 0 gives :attr:`symbols`.

        The symbols are derived, not stored, because a word of n bytes would have up to n²/2 of them.
        """
        word = "".join(self.symbols)
        return tuple(word[start:end] for start, end in _ranges(len(word), self.merges[:merges]))


@dataclass(frozen=True, slots=True)
class BpeSteps(PieceSteps[BpeWord]):
    """The steps of a text through a byte-level BPE tokenizer.

    Attributes
    ----------
    composed
        The text whose bytes are read: with letters and marks joined if the tokenizer joins them.
    """

    composed: str


def bpe_steps(tokenizer: Tokenizer, text: str) -> BpeSteps:
    """Tokenize a text and keep every step.

    The result equals ``tokenizer.encode(text, add_special_tokens=False)`` with truncation and
    padding off: tokens, ids, offsets and word ids.

    Parameters
    ----------
    tokenizer
        A tokenizer with the model BPE, a ``ByteLevel`` pre-tokenizer and no normalizer (GPT-2, RoBERTa) or NFC
        (ModernBERT).
    text
        Any text. The caller must replace lone surrogates.

    Raises
    ------
    ValueError
        If the tokenizer has other parts, if its vocabulary lacks a byte of the text, or if the text has a lone
        surrogate.
    """
    require_encodable(text)
    rules = read_rules(tokenizer)
    segments = split_added_tokens(tokenizer, [Segment(AlignedText.of(text, 0, ()), None)])
    if tokenizer.normalizer is not None:
        segments = [segment.normalized([tokenizer.normalizer]) for segment in segments]
    composed = "".join(segment.aligned.text for segment in segments)
    segments = split_added_tokens(tokenizer, segments, normalized=True)
    words = tuple(word for segment in segments for word in _segment_words(rules, segment))
    for add_prefix_space in rules.trims:
        words = _trim(words, add_prefix_space)
    return BpeSteps(text, words, composed)


@lru_cache(maxsize=1)
def byte_symbols() -> tuple[str, ...]:
    """Return the visible character for each byte (Radford et al. 2019, ``bytes_to_unicode``).

    The 188 bytes that are printable in Latin-1 keep their characters. The other bytes, white space and
    controls, get the characters from U+0100 on in order, so a space (byte 32) becomes ``"Ġ"``.

    Returns
    -------
    256 characters; ``byte_symbols()[b]`` is the character for byte b.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(others)) for byte in range(256))


def split_pre_tokens(text: str) -> Iterator[Span]:
    """GPT-2's pre-tokens: contractions, then words, numbers or signs with one space before them.

    Parameters
    ----------
    text
        Any text.

    Yields
    ------
    (start, end) of each pre-token in ``text``; together the pre-tokens cover the whole text.
    """
    for _, span in _GPT_2.pre_tokenize_str(text):
        yield span


def apply_merges(word: str, ranks: Mapping[tuple[str, str], int]) -> Iterator[MergeStep]:
    """Merge the best-ranked pair of neighbours, leftmost first, until no pair has a rank.

    Parameters
    ----------
    word
        n symbols of one character each.
    ranks
        The tokenizer's merges, (left, right) -> rank.

    Yields
    ------
    At most n - 1 merges, found in O(n log n) steps with a queue of candidates.
    """
    ends = {start: start + 1 for start in range(len(word))}  # symbol's start -> symbol's end, for all current symbols
    starts = {start + 1: start for start in range(len(word))}
    queue: list[tuple[int, int, int, int]] = []

    def consider(start: int, middle: int, end: int) -> None:
        rank = ranks.get((word[start:middle], word[middle:end]))
        if rank is not None:
            heappush(queue, (rank, start, middle, end))

    for start in range(len(word) - 1):
        consider(start, start + 1, start + 2)
    while queue:
        rank, start, middle, end = heappop(queue)
        if ends.get(start) != middle or ends.get(middle) != end:
            continue  # One of the two symbols has been merged with another neighbour since.
        yield MergeStep(rank, word[start:middle], word[middle:end], middle)
        ends[start], starts[end] = end, start
        del ends[middle], starts[middle]
        if start > 0:
            consider(starts[start], start, end)
        if end < len(word):
            consider(start, end, ends[end])


def _segment_words(rules: BpeRules, segment: Segment) -> Iterator[BpeWord]:
    aligned, whole = segment.aligned, segment.added()
    if whole is not None:
        yield BpeWord(whole.token, whole.span, (whole,), added=True)
        return
    prefixed = rules.add_prefix_space and not aligned.text.startswith(" ")
    if prefixed:
        # The inserted space has no place in the text, so it shares the place of the first character.
        aligned = AlignedText(" " + aligned.text, (aligned.spans[0], *aligned.spans))
    spans = split_pre_tokens(aligned.text) if rules.use_regex else [(0, len(aligned.text))]
    for start, end in spans:
        yield _encode_word(rules, aligned.cut(start, end), prefixed and start == 0)


def _encode_word(rules: BpeRules, word: AlignedText, prefixed: bool) -> BpeWord:
    symbols: list[str] = []
    spans: list[Span] = []
    for character, span in zip(word.text, word.spans, strict=True):
        for byte in character.encode():
            symbols.append(byte_symbols()[byte])
            spans.append(span)
    visible = AlignedText("".join(symbols), tuple(spans))
    whole = rules.ignore_merges and rules.model.token_to_id(visible.text) is not None
    merges = () if whole else tuple(apply_merges(visible.text, rules.ranks))
    ranges = [(0, len(symbols))] if whole else _ranges(len(symbols), merges)
    pieces = tuple(_piece(rules.model, visible.cut(start, end)) for start, end in ranges)
    span = word.span(0, len(word.text))
    return BpeWord(word.text, span, pieces, False, tuple(symbols), merges, prefixed, whole)


def _ranges(symbols: int, merges: Sequence[MergeStep]) -> list[Span]:
    """Return the start and the end of each symbol, in bytes, after the merges have erased boundaries."""
    erased = {step.boundary for step in merges}
    return list(pairwise(cut for cut in range(symbols + 1) if cut not in erased))


def _piece(model: models.BPE, token: AlignedText) -> Piece:
    token_id = model.token_to_id(token.text)
    if token_id is None:
        raise ValueError(
            f"The vocabulary lacks {token.text!r}. A byte-level vocabulary holds a symbol for each of "
            "the 256 bytes: train it with initial_alphabet=pre_tokenizers.ByteLevel.alphabet()."
        )
    return Piece(token.text, token_id, token.span(0, len(token.text)))


def _trim(words: tuple[BpeWord, ...], add_prefix_space: bool) -> tuple[BpeWord, ...]:
    """Exclude white space at the ends of a token from its offsets (``trim_offsets``)."""
    result: list[BpeWord] = []
    count = 0
    for word in words:
        pieces: list[Piece] = []
        for piece in word.pieces:
            keep_one = add_prefix_space and (count == 0 or piece.span[0] == 0)
            pieces.append(replace(piece, span=_trimmed(piece, keep_one)))
            count += 1
        result.append(replace(word, pieces=tuple(pieces)))
    return tuple(result)


def _trimmed(piece: Piece, keep_one: bool) -> Span:
    start, end = piece.span
    plain = "".join("x" if not _is_blank(character) else " " for character in piece.token)
    leading = len(plain) - len(plain.lstrip())
    trailing = len(plain) - len(plain.rstrip())
    if leading == 1 and keep_one:
        leading = 0  # The library takes this space for the inserted one, which is not in the text.
    start = min(start + leading, end)
    if trailing <= end:
        end = max(end - trailing, start)
    return start, end


def _is_blank(symbol: str) -> bool:
    return symbol == byte_symbols()[0x20] or is_whitespace(symbol)
