"""Other ways to cut a word with the same vocabulary: the wrong options of the tokenization lesson."""

from __future__ import annotations

from tokenizers import models

from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.wordpiece import WordSteps

Rival = tuple[tuple[str, ...], str]  # the pieces, and when the word would be cut so: "if …"


def starts(model: models.WordPiece, word: str) -> list[str]:
    """The vocabulary's entries that begin ``word``, the longest first."""
    return [word[:end] for end in range(len(word), 0, -1) if model.token_to_id(word[:end]) is not None]


def wordpiece_rivals(model: models.WordPiece, word: WordSteps) -> list[Rival]:
    """Cuts of a known word that are not greedy from the left, where the vocabulary allows them."""
    found: list[Rival] = []
    backwards = _from_the_end(model, word.text)
    if backwards:
        found.append((backwards, "if the longest match were taken from the end"))
    for start in starts(model, word.text[: word.matches[0].end - 1]):
        rest = _continue(model, word.text, len(start))
        if rest:
            found.append(((start, *rest), "if a shorter first piece were taken"))
            break
    letters = tuple(_entry(model, word.text, start, start + 1) for start in range(len(word.text)))
    found.append((letters, "if every character were a piece"))
    return found


def bpe_rivals(word: BpeWord) -> list[Rival]:
    """What the word looked like before its last merge, and before its first."""
    found: list[Rival] = []
    if word.merges:
        found.append((word.symbols_after(len(word.merges) - 1), "if the last merge were left out"))
    found.append((word.symbols, "before the first merge"))
    return found


def _from_the_end(model: models.WordPiece, word: str) -> tuple[str, ...]:
    """Greedy from the right; empty if that leaves a rest without an entry."""
    pieces: list[str] = []
    end = len(word)
    while end > 0:
        start = next((start for start in range(end) if _known(model, word, start, end)), None)
        if start is None:
            return ()
        pieces.insert(0, _entry(model, word, start, end))
        end = start
    return tuple(pieces)


def _continue(model: models.WordPiece, word: str, start: int) -> tuple[str, ...]:
    """The pieces that follow once the word is cut at ``start``; empty if one is missing."""
    pieces: list[str] = []
    while start < len(word):
        end = next((end for end in range(len(word), start, -1) if _known(model, word, start, end)), None)
        if end is None:
            return ()
        pieces.append(_entry(model, word, start, end))
        start = end
    return tuple(pieces)


def _entry(model: models.WordPiece, word: str, start: int, end: int) -> str:
    return (model.continuing_subword_prefix if start else "") + word[start:end]


def _known(model: models.WordPiece, word: str, start: int, end: int) -> bool:
    return model.token_to_id(_entry(model, word, start, end)) is not None
