"""A common entry point to the explained tokenizers, and the comparison of their result with the library's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from tokenizers import Tokenizer, models

from lab.text.tokenizers.bpe import BpeSteps, bpe_steps
from lab.text.tokenizers.cut_text import Span
from lab.text.tokenizers.wordpiece import WordPieceSteps, wordpiece_steps

TokenizationSteps = WordPieceSteps | BpeSteps


def tokenization_steps(tokenizer: Tokenizer, text: str) -> TokenizationSteps:
    """Tokenize a text and keep every step, by the algorithm that the tokenizer uses.

    The result equals ``tokenizer.encode(text, add_special_tokens=False)`` with truncation and
    padding off. Both kinds of result are :class:`lab.text.tokenizers.cut_text.PieceSteps`.

    Parameters
    ----------
    tokenizer
        The tokenizer as loaded from a checkpoint's ``tokenizer.json``, with truncation and padding off. Pass the same
        object for the next text, because its merges are cached.
    text
        Any text. The caller must replace lone surrogates.

    Raises
    ------
    ValueError
        If the model is neither WordPiece nor BPE, if another part of the tokenizer differs from the tokenizers of BERT,
        GPT-2, RoBERTa and ModernBERT, or if the text has a lone surrogate.
    """
    if isinstance(tokenizer.model, models.WordPiece):
        return wordpiece_steps(tokenizer, text)
    if isinstance(tokenizer.model, models.BPE):
        return bpe_steps(tokenizer, text)
    kind = type(tokenizer.model).__name__
    raise ValueError(f"The lab explains WordPiece (BERT) and byte-level BPE (GPT-2) tokenizers; this one is {kind}.")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a result: of the steps or of the library.

    Attributes
    ----------
    text
        The token as spelled in the vocabulary.
    token_id
        The token's id.
    span
        The token's characters in the text.
    word
        Index of the token's pre-token.
    """

    text: str
    token_id: int
    span: Span
    word: int | None


@dataclass(frozen=True, slots=True)
class ComparedToken:
    """The tokens at one position of both results; None for a result that has no token at this position."""

    ours: Token | None
    library: Token | None

    @property
    def same(self) -> bool:
        """True if spelling, id, span and word agree."""
        return self.ours == self.library


@dataclass(frozen=True, slots=True)
class TokenAgreement:
    """The comparison of the results for a whole text, with one row for each token."""

    rows: tuple[ComparedToken, ...]

    @property
    def first_difference(self) -> int | None:
        """Index of the first row that differs, or None if everything agrees."""
        return next((index for index, row in enumerate(self.rows) if not row.same), None)


def compare(tokenizer: Tokenizer, steps: TokenizationSteps) -> TokenAgreement:
    """Tokenize the text of ``steps`` with the library and compare.

    The steps find tokens and ids by themselves; their words and spans are the library's.

    Parameters
    ----------
    tokenizer
        The tokenizer that the steps explain, with truncation and padding off.
    steps
        The steps of a text through this tokenizer, without the special tokens that a model adds.
    """
    encoding = tokenizer.encode(steps.text, add_special_tokens=False)
    ours = map(Token, steps.tokens, steps.token_ids, steps.offsets, steps.word_ids)
    library = map(Token, encoding.tokens, encoding.ids, encoding.offsets, encoding.word_ids)
    return TokenAgreement(tuple(ComparedToken(*pair) for pair in zip_longest(ours, library)))
