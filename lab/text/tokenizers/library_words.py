"""The words of a text as the library ``tokenizers`` hands them to its model: normalized and cut by the library itself.

The library returns only the finished tokens. To see the words, the lab encodes the text with a tokenizer that has the
same normalizer, pre-tokenizer and added tokens, but a model that knows no word: a Unigram model returns such a word as
one token, spelled as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer

from lab.text.tokenizers.cut_text import Span, WordT

_CHARACTERS = pre_tokenizers.Split(Regex("(?m:.)"), "isolated")  # in Oniguruma, m lets the dot match a line's end


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of a text before a model cuts it.

    Attributes
    ----------
    text
        The unit after normalization. A byte-level pre-tokenizer writes one visible character for each byte.
    span
        The unit's characters in the text as typed.
    added_id
        The id of an added token (``"[MASK]"`` typed in the text), which no model cuts; None for a word.
    """

    text: str
    span: Span
    added_id: int | None


def require_parts(tokenizer: Tokenizer, **kinds: type) -> None:
    """Refuse a tokenizer built of other parts.

    Parameters
    ----------
    tokenizer
        Any tokenizer. It may do without a normalizer.
    kinds
        The class of each part by the part's name, for example ``model=models.BPE``.

    Raises
    ------
    ValueError
        If a part is of another class; the message names the first such part.
    """
    for name, kind in kinds.items():
        part = getattr(tokenizer, name)
        if not isinstance(part, kind) and not (name == "normalizer" and part is None):
            raise ValueError(
                f"The lab explains the {name} {kind.__name__}, but this tokenizer has {type(part).__name__}."
            )


def handed_over(tokenizer: Tokenizer, text: str) -> list[Unit]:
    """Return the words and the added tokens of a text in reading order.

    Parameters
    ----------
    tokenizer
        Any tokenizer. If its ``encode_special_tokens`` is set, special tokens are cut like words.
    text
        Any text.

    Raises
    ------
    ValueError
        If the text has a lone surrogate, half of a UTF-16 pair (e.g. from broken JSON), which has no UTF-8 form. If two
        added tokens are spelled alike after normalization, because the library takes either at random. If nothing is
        left of an added token, because the library would find it between any two characters.
    """
    if lone := re.search("[\ud800-\udfff]", text):
        raise ValueError(
            f"Character {lone.start()} of the text is the lone surrogate {lone.group()!r}, which has no UTF-8 form. "
            "Replace it before tokenizing, for example with text.encode('utf-8', 'replace').decode()."
        )
    added = list(tokenizer.get_added_tokens_decoder().values())
    _require_distinct(added, tokenizer.normalizer)
    return _units(tokenizer, text, added, tokenizer.normalizer, tokenizer.pre_tokenizer)


def normalized(tokenizer: Tokenizer, text: str, normalizer: Normalizer) -> tuple[str, tuple[Span, ...]]:
    """Normalize what lies between those added tokens that are looked for in the text as typed.

    Parameters
    ----------
    tokenizer
        Its added tokens marked ``normalized=False`` (usually the special tokens) stay as typed.
    text
        Any text without lone surrogates.
    normalizer
        The normalizer of ``tokenizer``, or some of its stages.

    Returns
    -------
    The normalized text of m characters, and for each of these the range of its source in ``text``.
    """
    typed = [token for token in tokenizer.get_added_tokens_decoder().values() if not token.normalized]
    units = _units(tokenizer, text, typed, normalizer, _CHARACTERS)
    spans: list[Span] = []
    for unit in units:
        spans += [unit.span] if unit.added_id is None else [(i, i + 1) for i in range(*unit.span)]
    return "".join(unit.text for unit in units), tuple(spans)


def placed(tokenizer: Tokenizer, text: str, words: Iterable[WordT]) -> tuple[WordT, ...]:
    """Return the words of ``text`` with the library's span for each piece; ``tokenizer`` neither truncates nor pads.

    The library leaves white space out of a span if the tokenizer's post-processor says so (``trim_offsets``).
    """
    spans = iter(tokenizer.encode(text, add_special_tokens=False).offsets)
    return tuple(
        replace(word, pieces=tuple(replace(piece, span=next(spans, piece.span)) for piece in word.pieces))
        for word in words
    )


def _units(
    tokenizer: Tokenizer, text: str, added: list[AddedToken], normalizer: Normalizer | None, cut: PreTokenizer | None
) -> list[Unit]:
    knows_nothing = Tokenizer(models.Unigram([("", 0.0)], unk_id=0))
    knows_nothing.normalizer, knows_nothing.pre_tokenizer = normalizer, cut
    knows_nothing.add_tokens(added)  # after the normalizer is set, because it normalizes their spelling, too
    knows_nothing.encode_special_tokens = tokenizer.encode_special_tokens
    found = knows_nothing.encode(text, add_special_tokens=False)
    # A word gets the id 0 here, and the added tokens get the ids from 1 on.
    ids = {n: tokenizer.token_to_id(token.content) for n, token in knows_nothing.get_added_tokens_decoder().items()}
    return [Unit(*each) for each in zip(found.tokens, found.offsets, map(ids.get, found.ids), strict=True)]


def _require_distinct(added: list[AddedToken], normalizer: Normalizer | None) -> None:
    found: dict[tuple[bool, str], str] = {}
    for token in added:
        spelled = normalizer.normalize_str(token.content) if normalizer and token.normalized else token.content
        if not spelled:
            raise ValueError(f"Nothing is left of the added token {token.content!r}. Add it with normalized=False.")
        other = found.setdefault((token.normalized, spelled), token.content)
        if other != token.content:
            raise ValueError(f"Added tokens {other!r} and {token.content!r} are both spelled {spelled!r}. Remove one.")
