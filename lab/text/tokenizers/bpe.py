"""Byte-level byte-pair encoding, step by step, as in GPT-2, RoBERTa and ModernBERT.

Sennrich et al. 2016 (§3.2) learn a ranked list of merges from a corpus; a word is encoded by
applying these merges, the best-ranked first. Radford et al. 2019 (§2.2) start from bytes instead of
characters, so that no text is ever unknown; before that, they cut the text with a regular expression
that keeps merges inside words, numbers and punctuation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from lab.text.tokenizers.cut_text import Piece, PieceSteps, PreToken
from lab.text.tokenizers.library_words import Unit, handed_over, normalized, placed, require_parts


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
    taken_whole
        True if ``ignore_merges`` took the whole word from the vocabulary.
    """

    symbols: tuple[str, ...] = ()
    merges: tuple[MergeStep, ...] = ()
    taken_whole: bool = False

    def symbols_after(self, merges: int) -> tuple[str, ...]:
        """Return the symbols after the first ``merges`` merges; 0 gives :attr:`symbols`.

        The symbols are derived, not stored, because a word of n bytes would have up to n²/2 of them.
        """
        return _merged("".join(self.symbols), self.merges[:merges])


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
    model = tokenizer.model
    require_parts(tokenizer, model=models.BPE, pre_tokenizer=pre_tokenizers.ByteLevel, normalizer=normalizers.NFC)
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if value := getattr(model, name):
            raise ValueError(f"These steps explain BPE without {name}, but this tokenizer has {value!r}.")
    ranks = _merge_ranks(tokenizer, tokenizer.get_vocab_size(with_added_tokens=False))
    words = [_encode_word(model, ranks, unit) for unit in handed_over(tokenizer, text)]
    composed = text if tokenizer.normalizer is None else normalized(tokenizer, text, tokenizer.normalizer)[0]
    return BpeSteps(text, placed(tokenizer, text, words), composed)


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


def _encode_word(model: models.BPE, ranks: Mapping[tuple[str, str], int], unit: Unit) -> BpeWord:
    if unit.added_id is not None:
        return BpeWord(unit.text, unit.span, (Piece(unit.text, unit.added_id, unit.span),), added=True)
    whole = model.ignore_merges and model.token_to_id(unit.text) is not None
    merges = () if whole else tuple(apply_merges(unit.text, ranks))
    tokens = (unit.text,) if whole else _merged(unit.text, merges)
    pieces = tuple(Piece(token, _id(model, token), unit.span) for token in tokens)
    word = decoders.ByteLevel().decode([unit.text])
    return BpeWord(word, unit.span, pieces, False, tuple(unit.text), merges, whole)


def _merged(word: str, merges: Sequence[MergeStep]) -> tuple[str, ...]:
    """Return the symbols of a word after the merges have erased boundaries."""
    erased = {step.boundary for step in merges}
    return tuple(word[start:end] for start, end in pairwise(i for i in range(len(word) + 1) if i not in erased))


def _id(model: models.BPE, token: str) -> int:
    token_id = model.token_to_id(token)
    if token_id is None:
        raise ValueError(f"The vocabulary lacks {token!r}. Train it with initial_alphabet=ByteLevel.alphabet().")
    return token_id


# Keep the merges of two tokenizers, because two models are loaded at a time; GPT-2's 50 000 merges take 10 MB.
@lru_cache(maxsize=2)
def _merge_ranks(tokenizer: Tokenizer, vocabulary_size: int) -> Mapping[tuple[str, str], int]:
    """Read the merges; ``vocabulary_size`` is part of the cache's key, so that a retrained tokenizer is read again."""
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return {(left, right): rank for rank, (left, right) in enumerate(merges)}
