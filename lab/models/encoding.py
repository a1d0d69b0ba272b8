"""From text to the ids that a model reads: tokens, segments, positions, character offsets; and the blank in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.models.families.library import boundary

if TYPE_CHECKING:
    import tokenizers
    from tokenizers import Tokenizer

    from lab.models.config import ModelConfig
    from lab.models.loading import LoadedModel

BLANK = "▢"  # how the lab writes a token that hides a word, [MASK] in BERT


class TextError(ValueError):
    """Raised if the text cannot be encoded; the message is written for the learner."""


@dataclass(frozen=True)
class Encoding:
    """A text as the model reads it; every tuple has one entry for each token.

    ``offsets`` are character positions in ``text``, or in ``pair`` if ``in_pair`` is true;
    special tokens have (0, 0). ``word_ids`` counts pre-tokens and is None for special tokens.
    ``cut`` is the number of tokens dropped at the model's limit. The last ``padding`` tokens are padding, which the
    attention mask hides.
    """

    text: str
    pair: str | None
    tokens: tuple[str, ...]
    token_ids: tuple[int, ...]
    segment_ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    word_ids: tuple[int | None, ...]
    in_pair: tuple[bool, ...]
    special: tuple[bool, ...]
    cut: int
    padding: int = 0

    def __len__(self) -> int:
        return len(self.tokens)


def word_of(tokenizer: Tokenizer, token_id: int) -> str:
    """Return a word of the vocabulary in the readable form that tokens have on screen, except in lesson 1.

    WordPiece tokens are unchanged ("##ing"). Byte-level BPE tokens are decoded, with their space as ␣ ("␣cat" for
    "Ġcat"), unless their bytes alone are not readable text.
    """
    from tokenizers import decoders

    name = tokenizer.id_to_token(token_id)
    if name is None:
        return f"[no word: {token_id}]"  # a model's table may be longer than its tokenizer's vocabulary
    if not isinstance(tokenizer.decoder, decoders.ByteLevel):
        return name
    text = tokenizer.decode([token_id], skip_special_tokens=False)
    readable = text.isprintable() and "\ufffd" not in text
    return text.replace(" ", "␣") if readable else name.replace("Ġ", "␣")


def clean(text: str) -> str:
    """Join surrogate pairs; replace lone surrogates, which no tokenizer accepts, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encode(tokenizer: Tokenizer, config: ModelConfig, text: str, pair: str | None = None) -> Encoding:
    """Tokenize ``text`` (and ``pair``) with the model's special tokens, cut at the model's limit.

    A pair is cut from the longer text first, as in Hugging Face. Raises :class:`TextError` if no token is left to read
    or the tokenizer fails, and TypeError for a text that is not a string.
    """
    _require_strings(text, pair)
    text, pair = clean(text), clean(pair) if pair and pair.strip() else None
    if not text.strip():
        raise TextError("There is no text yet. Type a sentence, or pick one of the examples.")
    with boundary("this text with the model's tokenizer", TextError):
        full = tokenizer.encode(text, pair)
        around = tokenizer.num_special_tokens_to_add(pair is not None)
        fits = len(full) <= config.max_tokens
        kept = full if fits or config.max_tokens <= around else _cut(tokenizer, config, text, pair)
    # type_ids follow the model's template (RoBERTa: all 0); sequence_ids give the text of each token.
    sequences = kept.sequence_ids
    if 0 not in full.sequence_ids:
        raise TextError("This text holds no characters the tokenizer keeps. Type a word.")
    if len(kept) > config.max_tokens or not {*full.sequence_ids} <= {*sequences}:
        each = "" if pair is None else " of each text"
        raise TextError(
            f"This model has only {config.max_tokens} places for tokens, and the {around} special tokens around the "
            f"text leave no room for a word{each}. Choose another model."
        )
    return Encoding(
        text=text,
        pair=pair,
        tokens=tuple(kept.tokens),
        token_ids=tuple(kept.ids),
        segment_ids=tuple(kept.type_ids),
        offsets=tuple(kept.offsets),
        word_ids=tuple(kept.word_ids),
        in_pair=tuple(sequence == 1 for sequence in sequences),
        special=tuple(bool(flag) for flag in kept.special_tokens_mask),
        cut=len(full) - len(kept),
    )


def _cut(tokenizer: Tokenizer, config: ModelConfig, text: str, pair: str | None) -> tokenizers.Encoding:
    """Tokenize texts that are too long for the model, and leave out what does not fit."""
    # Use a private copy of the tokenizer, because truncation is a setting and all sessions share the tokenizer.
    limited = type(tokenizer).from_str(tokenizer.to_str())
    limited.encode_special_tokens = tokenizer.encode_special_tokens  # the only setting that a copy loses
    side = "left" if config.from_end else "right"
    limited.enable_truncation(config.max_tokens, strategy="longest_first", direction=side)
    return limited.encode(text, pair)


def fitted(config: ModelConfig, encoding: Encoding) -> Encoding:
    """Return ``encoding`` as a model can read it: a model with one segment gives it to both texts of a pair.

    Raises :class:`TextError` for a token that was added to the tokenizer and not to the model.
    """
    for token, token_id in zip(encoding.tokens, encoding.token_ids, strict=True):
        if token_id >= config.vocabulary:
            raise TextError(
                f"The tokenizer knows the token {token!r}, but the model has no vector for it: its id is {token_id}, "
                f"and the model has {config.vocabulary} vectors, for the ids from 0. Leave this token out."
            )
    return encoding if config.segments != 1 else replace(encoding, segment_ids=(0,) * len(encoding))


def _require_strings(text: object, pair: object) -> None:
    """Raise TypeError, with a remedy, for texts that are not strings, such as a list of words."""
    for name, value in (("text", text), ("pair", pair)):
        if not isinstance(value, str) and not (name == "pair" and value is None):
            words = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
            remedy = " Join the words: ' '.join(words)." * words + " A second text is the argument pair." * words
            raise TypeError(f"{name} must be one string, not {type(value).__name__}.{remedy}")


def padded(model: LoadedModel, encoding: Encoding, count: int) -> Encoding | None:
    """Return ``encoding`` with ``count`` padding tokens at the end, like a shorter text in a batch (Devlin et al.
    2019).

    None for a model without a padding token, or if the model's limit leaves no room, or if the last padding token would
    see nothing but padding in a local layer.
    """
    config, padding = model.config, model.padding
    if padding is None or len(encoding) + count > config.max_tokens or count > (config.window or count):
        return None
    token, token_id = padding
    return replace(
        encoding,
        tokens=encoding.tokens + (token,) * count,
        token_ids=encoding.token_ids + (token_id,) * count,
        segment_ids=encoding.segment_ids + (0,) * count,
        offsets=encoding.offsets + ((0, 0),) * count,
        word_ids=encoding.word_ids + (None,) * count,
        in_pair=encoding.in_pair + (False,) * count,
        special=encoding.special + (True,) * count,
        padding=count,
    )


MASK = "[MASK]"
_ALONE = re.compile(r"(?<!\w)_+(?!\w)|▢")  # as a word of its own: not in a name such as snake_case


def with_masks(text: str) -> str:
    """Return a text with :data:`MASK` in the place of each blank that is typed as a word of "_", or as "▢"."""
    return _ALONE.sub(MASK, text)
