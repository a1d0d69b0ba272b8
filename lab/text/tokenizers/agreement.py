"""Are the explained steps the library's own result? Token by token, on the text at hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from tokenizers import Tokenizer

from lab.text.tokenizers.pieces import Span
from lab.text.tokenizers.steps import TokenizationSteps


@dataclass(frozen=True, slots=True)
class Token:
    """One token, from the steps or from the library.

    Attributes
    ----------
    text
        As the vocabulary spells it.
    token_id
        Its id.
    span
        Characters of the text that it stands for.
    word
        Index of the pre-token that it is a part of.
    """

    text: str
    token_id: int
    span: Span
    word: int | None


@dataclass(frozen=True, slots=True)
class ComparedToken:
    """What stands at one position in both results; None where one of them has ended."""

    ours: Token | None
    library: Token | None

    @property
    def same(self) -> bool:
        """Whether spelling, id, span and word agree."""
        return self.ours == self.library


@dataclass(frozen=True, slots=True)
class TokenAgreement:
    """The comparison of a whole text, one row a token."""

    rows: tuple[ComparedToken, ...]

    @property
    def first_difference(self) -> int | None:
        """Index of the first row that differs, or None: then everything agrees."""
        return next((index for index, row in enumerate(self.rows) if not row.same), None)


def compare(tokenizer: Tokenizer, steps: TokenizationSteps) -> TokenAgreement:
    """Tokenize the text of ``steps`` with the library and compare.

    Parameters
    ----------
    tokenizer
        The one that the steps explain; truncation and padding off.
    steps
        A text on its way through it, without the special tokens that a model adds.
    """
    encoding = tokenizer.encode(steps.text, add_special_tokens=False)
    ours = map(Token, steps.tokens, steps.token_ids, steps.offsets, steps.word_ids)
    library = map(Token, encoding.tokens, encoding.ids, encoding.offsets, encoding.word_ids)
    return TokenAgreement(tuple(ComparedToken(*pair) for pair in zip_longest(ours, library)))
