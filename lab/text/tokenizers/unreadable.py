"""Characters that a tokenizer drops or hardly knows, so that a page can say what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.text.tokenizers.cut_text import Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_UNKNOWN = ("[UNK]", "<unk>")
_KNOWS = 0.2  # a vocabulary knows a script if this share of its tokens is not written in Latin letters


def dropped(tokenizer: Tokenizer, text: str) -> int:
    """Return the number of characters that cannot be seen and that the tokenizer drops before it cuts the text.

    These are control characters, characters of no width and U+FFFD. White space does not count.
    """
    normalizer = tokenizer.normalizer
    if normalizer is None:
        return 0
    unseen = {each for each in text if (not each.isprintable() and not each.isspace()) or each == "\ufffd"}
    gone = {each for each in unseen if normalizer.normalize_str(f"a{each}a") == "aa"}
    return sum(each in gone for each in text)


def hardly_known(tokenizer: Tokenizer, text: str, tokens: Sequence[str], offsets: Sequence[Span]) -> int:
    """Return the number of tokens that are unknown or a single foreign letter, if they are more than half; otherwise 0.

    A letter is foreign if it is not in ASCII. A vocabulary of another script than Latin cuts such letters rightly, as
    Chinese vocabularies do, so the result for it counts unknown tokens only.

    Parameters
    ----------
    tokens, offsets
        The tokens of ``text`` without special tokens, and their characters.
    """
    unknown = {place for place, token in enumerate(tokens) if token in _UNKNOWN}
    single = {
        place for place, (start, end) in enumerate(offsets) if end - start == 1 and _foreign(text[start:end])
    } - unknown
    few = len(unknown) + len(single)
    if 2 * few > len(tokens) and single and _other_script(tokenizer):
        few = len(unknown)
    return few if 2 * few > len(tokens) else 0


def _foreign(character: str) -> bool:
    return character.isalpha() and not character.isascii()


def _other_script(tokenizer: Tokenizer) -> bool:
    """Return whether many words of the vocabulary are not written in Latin letters."""
    firsts = [first for token in tokenizer.get_vocab() if (first := next(filter(str.isalpha, token), None))]
    return sum(each > "\u024f" for each in firsts) > _KNOWS * len(firsts)
