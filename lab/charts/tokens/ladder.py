"""Show how one word is cut, step by step, as lines of plain text with aligned columns.

The result is text, not a chart, so that a learner can read and copy it; the block around it renders no markup.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from lab.charts.tokens.token_chips import Chip
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.wordpiece import Lookup, WordSteps

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
