"""The tables of the tokenization lesson, and how one word is cut, as lines of plain text that a learner can copy."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from lab.charts.base.axes import visible
from lab.charts.tokens.token_chips import Chip
from lab.models.encoding import Encoding
from lab.text.tokenizers.bpe import BpeWord, byte_symbols
from lab.text.tokenizers.cut_text import Span
from lab.text.tokenizers.explained import Token, TokenAgreement, TokenizationSteps
from lab.text.tokenizers.wordpiece import Lookup, WordSteps

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


_MISS = "·"
_MISSES = 12  # a longer run of failed lookups is folded in the middle
_MERGES = 40  # a longer run of merges is folded in the middle


def lookup_ladder(word: WordSteps, made: int) -> str:
    """Return the first ``made`` lookups of a word, each candidate under the characters that it would cover.

    A candidate that was found is ticked, and its id is beside it.
    """
    lookups = word.lookups
    margin = max(map(_mark, lookups), default=0)
    rungs = [" " * (margin + lookup.start - _mark(lookup)) + lookup.candidate for lookup in lookups]
    width = max(map(_width, rungs), default=0)
    lines: list[str] = []
    for lookup, rung in zip(lookups[:made], rungs, strict=False):
        sign, verdict = ("✓", f"id {lookup.token_id}") if lookup.found else (_MISS, "not in the vocabulary")
        lines.append(f"{sign} {rung}{' ' * (width - _width(rung))}   {verdict}")
    return "\n".join(_folded(lines))


def merge_ladder(word: BpeWord, made: int) -> str:
    """The symbols of a word after each of its first ``made`` merges; each stays at the column of its first byte."""
    lines = [f"{_spaced(word.symbols)}   {len(word.symbols)} bytes"]
    made = min(made, len(word.merges))
    hidden = range(_MERGES // 2, made - _MERGES // 2) if made > _MERGES else range(0)
    for done in range(1, made + 1):
        if done in hidden:
            if done == hidden[0]:
                lines.append(f"… {len(hidden)} more merges")
            continue
        step = word.merges[done - 1]
        lines.append(f"{_spaced(word.symbols_after(done))}   {step.left} + {step.right}, rank {step.rank}")
    return "\n".join(lines)


def lookup_chips(word: WordSteps, made: int) -> list[Chip]:
    """Draw the word after its first ``made`` lookups: a chip for each piece found, then a chip for the rest."""
    found = [lookup for lookup in word.lookups[:made] if lookup.found]
    pieces: list[Chip] = [
        (word.text[match.start : match.end], (place,), match.candidate) for place, match in enumerate(found)
    ]
    rest = word.text[found[-1].end if found else 0 :]
    return [*pieces, (rest, (), None)] if rest else pieces


def merge_chips(word: BpeWord, made: int) -> list[Chip]:
    """Return the word after its first ``made`` merges: a chip for each symbol."""
    return [(symbol, (place,), None) for place, symbol in enumerate(word.symbols_after(made))]


def _spaced(symbols: Sequence[str]) -> str:
    """Write the symbols with two columns for each byte, because each byte is shown as one character."""
    return "".join(symbol + " " * len(symbol) for symbol in symbols)


def _mark(lookup: Lookup) -> int:
    """Return the number of characters of the candidate's continuation mark."""
    return len(lookup.candidate) - (lookup.end - lookup.start)


def _width(text: str) -> int:
    """Count the columns of a text in a fixed-width font."""
    wide = sum(unicodedata.east_asian_width(character) in {"W", "F"} for character in text)
    none = sum(unicodedata.category(character) in {"Mn", "Me", "Cf"} for character in text)
    return len(text) + wide - none


def _folded(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with long runs of failed lookups folded in the middle; a line says how many lookups are left out."""
    run: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(_MISS):
            run.append(line)
            continue
        if len(run) > _MISSES:
            hidden = len(run) - 5
            run[3:-2] = [f"  … {hidden} shorter candidates, none of them in the vocabulary"]
        yield from run
        run = []
        if line:
            yield line
