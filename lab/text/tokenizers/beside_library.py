"""Compare the result of the explained steps with the library's own result, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from tokenizers import Tokenizer

from lab.text.tokenizers.cut_text import Span
from lab.text.tokenizers.explained import TokenizationSteps


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
