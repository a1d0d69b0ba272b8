"""The learner's input, in the form about which the tokenization lesson asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from lab.course.words import quoted
from lab.models.encoding import Encoding
from lab.questions.question import Option, Question
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.cut_text import Piece
from lab.text.tokenizers.explained import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordSteps

Word = WordSteps | BpeWord

_LONGEST = 30  # characters of a word that a page looks at first


@dataclass(frozen=True)
class TextReading:
    """The learner's input on its way into the model: ``texts`` holds one text, or both texts of a pair."""

    encoding: Encoding
    texts: tuple[TokenizationSteps, ...]
    tokenizer: Tokenizer

    @property
    def words(self) -> tuple[Word, ...]:
        """The pre-tokens of all texts in reading order."""
        return tuple(word for steps in self.texts for word in steps.words)


def spelled(word: Word) -> str:
    """A pre-token as the model sees it: a BPE word in the visible characters of its bytes."""
    return "".join(word.symbols) if isinstance(word, BpeWord) and not word.added else word.text


def hardest(words: Sequence[Word]) -> int | None:
    """Index of the word to look at first: the word with most pieces, and of several such words the longest."""

    def effort(index: int) -> tuple[bool, int, int]:
        word = words[index]
        return not word.added and len(word.text) <= _LONGEST, len(word.pieces), len(word.text)

    return max(range(len(words)), key=effort, default=None)


def question(id: str, prompt: str, options: Iterable[Option], hint: str = "") -> Question | None:
    """Make a question from its options, the correct option first; None if only one is left.

    If two options read the same, the earlier one stays; four stay at most. The options are sorted, so that their order
    tells nothing.
    """
    kept: dict[str, Option] = {}
    for option in options:
        kept.setdefault(option.text, option)
    chosen = list(kept.values())[:4]
    if len(chosen) < 2:
        return None
    numbers = all(option.text.isdecimal() for option in chosen)
    chosen.sort(key=lambda option: (int(option.text) if numbers else 0, option.text))
    return Question(id, prompt, tuple(chosen), hint=hint)


def count(number: int, noun: str) -> str:
    """``count(1, "token")`` is "1 token", ``count(2, "token")`` "2 tokens"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(pieces: Sequence[Piece]) -> str:
    """Write the tokens of a word in a row, quoted."""
    return quoted(" · ".join(piece.token for piece in pieces))
