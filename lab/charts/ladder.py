"""How one word is cut, as lines of plain text in which everything keeps its column.

Lines, not marks: a learner reads and copies them, and they stand in a block that renders nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from lab.text.bpe import BpeWord
from lab.text.wordpiece import Lookup, WordSteps

_MISSES = 12  # of a longer run of failed lookups the middle is folded
_MERGES = 40  # the same for merges


def lookup_ladder(word: WordSteps, made: int) -> str:
    """The first ``made`` lookups of a word, each candidate under the characters that it would cover.

    Lines of found candidates begin with ``+`` and name the id, the others begin with ``-``: the
    signs that a code block of the language "diff" colours.
    """
    lookups = word.lookups
    margin = max(map(_mark, lookups), default=0)
    rungs = [" " * (margin + lookup.start - _mark(lookup)) + lookup.candidate for lookup in lookups]
    width = max(map(_width, rungs), default=0)
    lines: list[str] = []
    for lookup, rung in zip(lookups[:made], rungs, strict=False):
        sign, verdict = ("+", f"id {lookup.token_id}") if lookup.found else ("-", "not in the vocabulary")
        lines.append(f"{sign} {rung}{' ' * (width - _width(rung))}   {verdict}")
    return "\n".join(_folded(lines))


def merge_ladder(word: BpeWord, made: int) -> str:
    """The symbols of a word after each of its first ``made`` merges; each stays where its first byte stood."""
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


def _spaced(symbols: Sequence[str]) -> str:
    """Two columns a byte: each byte is shown as one character."""
    return "".join(symbol + " " * len(symbol) for symbol in symbols)


def _mark(lookup: Lookup) -> int:
    """How many characters of the candidate are the continuation mark."""
    return len(lookup.candidate) - (lookup.end - lookup.start)


def _width(text: str) -> int:
    """Columns in a fixed-width font."""
    wide = sum(unicodedata.east_asian_width(character) in {"W", "F"} for character in text)
    none = sum(unicodedata.category(character) in {"Mn", "Me", "Cf"} for character in text)
    return len(text) + wide - none


def _folded(lines: Sequence[str]) -> Iterator[str]:
    """Long runs of failed lookups without their middle; a line says how many it held."""
    run: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("-"):
            run.append(line)
            continue
        if len(run) > _MISSES:
            hidden = len(run) - 5
            run[3:-2] = [f"  … {hidden} shorter candidates, none of them in the vocabulary"]
        yield from run
        run = []
        if line:
            yield line
