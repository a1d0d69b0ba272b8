"""A common entry point to the explained tokenizers."""

from __future__ import annotations

from tokenizers import Tokenizer, models

from lab.text.tokenizers.bpe import BpeSteps, bpe_steps
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
