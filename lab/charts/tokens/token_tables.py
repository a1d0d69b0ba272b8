"""The tables of the tokenization lesson: the full contents of the lesson's drawings, for reading and for CSV."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass

import pandas as pd

from lab.charts.base.labels import visible
from lab.models.encoding import Encoding
from lab.text.tokenizers.beside_library import Token, TokenAgreement
from lab.text.tokenizers.bpe import BpeWord, byte_symbols
from lab.text.tokenizers.cut_text import Span
from lab.text.tokenizers.explained import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordSteps

_SPELLED_OUT = 300  # the most bytes of a word whose states are listed; the states of a longer word would fill megabytes


def token_table(encoding: Encoding) -> pd.DataFrame:
    """Every token that the model reads: its number from 1, id, segment, and its characters in the text.

    ``start`` and ``end`` count characters of its text from 0, ``end`` not included; both are missing if a token
    covers no character.
    """
    covered = [
        (encoding.pair if second else encoding.text)[slice(*span)]  # type: ignore[index]
        for span, second in zip(encoding.offsets, encoding.in_pair, strict=True)
    ]
    return pd.DataFrame(
        {
            "token": encoding.tokens,
            "id": encoding.token_ids,
            "segment": encoding.segment_ids,
            "characters": [visible(text, None) if text else "" for text in covered],
            "start": _ends(encoding.offsets, 0),
            "end": _ends(encoding.offsets, 1),
            "added by the model": encoding.special,
        },
        index=_numbered(len(encoding), "token no."),
    )


def _numbered(count: int, name: str) -> pd.Index:
    """Return 1, 2, 3 … as row names that the CSV keeps; the CSV would leave out a RangeIndex."""
    return pd.Index(list(range(1, count + 1)), name=name)


def _ends(spans: tuple[Span, ...], side: int) -> pd.Series:
    values = [span[side] if span[0] < span[1] else None for span in spans]
    return pd.Series(values, dtype="Int64", index=_numbered(len(spans), "token no."))


def pre_token_table(steps: TokenizationSteps) -> pd.DataFrame:
    """Return the pre-tokens of a text: as read, as typed, and where each starts and ends in the text as typed."""
    words = steps.words
    return pd.DataFrame(
        {
            "pre-token": [visible(word.text, None) for word in words],
            "as typed": [visible(steps.text[slice(*word.span)], None) for word in words],
            "start": [word.span[0] for word in words],
            "end": [word.span[1] for word in words],
            "tokens": [len(word.pieces) for word in words],
        },
        index=_numbered(len(words), "pre-token no."),
    )


def lookup_table(word: WordSteps) -> pd.DataFrame:
    """Every lookup of a word in the order it was made."""
    lookups = word.lookups
    return pd.DataFrame(
        {
            "candidate": [lookup.candidate for lookup in lookups],
            "found": [lookup.found for lookup in lookups],
            "id": pd.array([lookup.token_id for lookup in lookups], dtype="Int64"),
            "start": [lookup.start for lookup in lookups],
            "end": [lookup.end for lookup in lookups],
        },
        index=_numbered(len(lookups), "lookup"),
    )


def merge_table(word: BpeWord) -> pd.DataFrame:
    """Every merge of a word in the order it was applied, with the symbols after it if the word is not huge."""
    merges = word.merges
    table = pd.DataFrame(
        {
            "rank": [step.rank for step in merges],
            "left": [step.left for step in merges],
            "right": [step.right for step in merges],
        },
        index=_numbered(len(merges), "merge"),
    )
    if len(word.symbols) <= _SPELLED_OUT:
        table["symbols after it"] = [" ".join(word.symbols_after(done + 1)) for done in range(len(merges))]
    return table


def character_bytes_table(text: str) -> pd.DataFrame:
    """Each character of a word with its code point, its UTF-8 bytes and their signs."""
    encoded = [character.encode() for character in text]
    return pd.DataFrame(
        {
            "character": [visible(character) for character in text],
            "code point": [f"U+{ord(character):04X}" for character in text],
            "UTF-8 bytes": [data.hex(" ").upper() for data in encoded],
            "signs": [" ".join(byte_symbols()[byte] for byte in data) for data in encoded],
        },
        index=_numbered(len(text), "no."),
    )


def byte_table() -> pd.DataFrame:
    """Return the sign for each of the 256 bytes."""
    return pd.DataFrame(
        {
            "hexadecimal": [f"{byte:02X}" for byte in range(256)],
            "ASCII": [visible(chr(byte)) if byte < 0x80 else "" for byte in range(256)],
            "sign": byte_symbols(),
        },
        index=pd.Index(list(range(256)), name="byte"),
    )


@dataclass(frozen=True)
class Change:
    """A change that a stage made to a stretch of characters, and how often the stage made this change."""

    before: str
    after: str
    times: int


def changes(before: str, before_spans: tuple[Span, ...], after: str, after_spans: tuple[Span, ...]) -> list[Change]:
    """Return the changes between two states of a text, character by character of the text as typed.

    ``*_spans`` give, for each character of a state, its span in the text as typed. The most frequent change comes
    first.
    """
    old, new = _by_source(before, before_spans), _by_source(after, after_spans)
    counted = Counter((text, new.get(place, "")) for place, text in old.items() if text != new.get(place, ""))
    return [Change(*pair, times) for pair, times in counted.most_common()]


def _by_source(text: str, spans: tuple[Span, ...]) -> dict[int, str]:
    found: dict[int, str] = {}
    for character, (start, _) in zip(text, spans, strict=True):
        found[start] = found.get(start, "") + character
    return found


def change_table(found: list[Change]) -> pd.DataFrame:
    """Return the changes of a stage; invisible characters are named."""
    return pd.DataFrame(
        {
            "before": [_seen(change.before) for change in found],
            "after": [visible(change.after) if change.after else "nothing" for change in found],
            "times": [change.times for change in found],
        }
    )


def _seen(text: str) -> str:
    if text.isprintable():
        return visible(text)
    return " + ".join(unicodedata.name(character, "").lower() or f"U+{ord(character):04X}" for character in text)


def agreement_table(agreement: TokenAgreement) -> pd.DataFrame:
    """Return the explained steps beside the library's tokens, one row for each token."""
    rows = agreement.rows
    columns: dict[str, list[object]] = {"same": [row.same for row in rows]}
    for name, tokens in (("steps", [row.ours for row in rows]), ("library", [row.library for row in rows])):
        columns[f"token, {name}"] = [token.text if token else "" for token in tokens]
        columns[f"id, {name}"] = [str(token.token_id) if token else "" for token in tokens]
        columns[f"characters, {name}"] = [_range(token) for token in tokens]
    return pd.DataFrame(columns, index=_numbered(len(rows), "token no."))


def _range(token: Token | None) -> str:
    return f"{token.span[0]}–{token.span[1]}" if token else ""
