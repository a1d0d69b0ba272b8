"""What every tokenizer of the lab hands to a page: pre-tokens and the pieces they became.

WordPiece (:mod:`lab.text.tokenizers.wordpiece`) and byte-level BPE (:mod:`lab.text.tokenizers.bpe`) differ in how
they cut a word, not in what comes out, so a page may walk either the same way::

    for word in tokenization_steps(tokenizer, text).words:
        for piece in word.pieces:
            ...

All spans are half-open ranges ``(start, end)`` of characters (Unicode code points, i.e. Python
``str`` indices) of the text as the user typed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of the result.

    Attributes
    ----------
    token
        The token as the vocabulary spells it (``"##ing"``, ``"Ġthe"``). An added token whose definition strips white
        space includes that white space, as in the library.
    token_id
        Its id in the tokenizer's vocabulary.
    span
        Characters of the original text that it stands for. Byte-level pieces of one character all carry that
        character's span.
    """

    token: str
    token_id: int
    span: Span


@dataclass(frozen=True, slots=True)
class PreToken:
    """One unit that the model cuts on its own: a word, a punctuation mark or an added token.

    Attributes
    ----------
    text
        The characters the model sees, after normalization.
    span
        Characters of the original text that it came from.
    pieces
        The tokens it became.
    added
        Whether it is an added token (``"[MASK]"`` typed in the text), which is split off before the model runs and
        stays whole.
    """

    text: str
    span: Span
    pieces: tuple[Piece, ...]
    added: bool


WordT = TypeVar("WordT", bound=PreToken)


@dataclass(frozen=True, slots=True)
class PieceSteps(Generic[WordT]):
    """A whole text, tokenized, without the special tokens that a model puts around it.

    Attributes
    ----------
    text
        The text as the user typed it.
    words
        Its pre-tokens in reading order, added tokens among them.
    """

    text: str
    words: tuple[WordT, ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The tokens in order; n of them."""
        return tuple(piece for word in self.words for piece in word.pieces)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The n tokens as the vocabulary spells them; ``Encoding.tokens`` of the library."""
        return tuple(piece.token for piece in self.pieces)

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The n vocabulary ids; ``Encoding.ids`` of the library."""
        return tuple(piece.token_id for piece in self.pieces)

    @property
    def offsets(self) -> tuple[Span, ...]:
        """The n character spans in :attr:`text`; ``Encoding.offsets`` of the library."""
        return tuple(piece.span for piece in self.pieces)

    @property
    def word_ids(self) -> tuple[int, ...]:
        """For each of the n tokens, the index of its word in :attr:`words`."""
        return tuple(index for index, word in enumerate(self.words) for _ in word.pieces)


def require_encodable(text: str) -> None:
    """Refuse a text that no tokenizer can read.

    A Python ``str`` may hold half of a UTF-16 pair (a "lone surrogate", e.g. from broken JSON).
    It has no UTF-8 form, and the library refuses it too.

    Raises
    ------
    ValueError
        Naming the first lone surrogate and how to mend the text.
    """
    for position, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise ValueError(
                f"Character {position} of the text is the lone surrogate {character!r}, which has no UTF-8 form. "
                "Replace it before tokenizing, for example with text.encode('utf-8', 'replace').decode()."
            )
