"""The form of result that all tokenizers of the lab share: pre-tokens and their pieces.

WordPiece (:mod:`lab.text.tokenizers.wordpiece`) and byte-level BPE (:mod:`lab.text.tokenizers.bpe`) differ in how
they cut a word, but not in the form of their result, so a page may treat both the same way::

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
        The token as spelled in the vocabulary (``"##ing"``, ``"Ġthe"``). An added token whose definition strips white
        space includes this white space, as in the library.
    token_id
        The token's id in the tokenizer's vocabulary.
    span
        The token's characters in the original text. Byte-level pieces of one character all have that
        character's span.
    """

    token: str
    token_id: int
    span: Span


@dataclass(frozen=True, slots=True)
class PreToken:
    """One unit that the model cuts separately: a word, a punctuation mark or an added token.

    Attributes
    ----------
    text
        The characters that the model sees, after normalization.
    span
        The pre-token's characters in the original text.
    pieces
        The tokens of the pre-token.
    added
        True for an added token (``"[MASK]"`` typed in the text), which is split off before the model runs and
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
        The text's pre-tokens in reading order, including added tokens.
    """

    text: str
    words: tuple[WordT, ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The n tokens in order."""
        return tuple(piece for word in self.words for piece in word.pieces)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The n tokens as spelled in the vocabulary; ``Encoding.tokens`` of the library."""
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
        """The index in :attr:`words` of each of the n tokens' words."""
        return tuple(index for index, word in enumerate(self.words) for _ in word.pieces)
