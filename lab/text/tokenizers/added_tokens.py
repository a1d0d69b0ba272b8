"""Added tokens: ``"[MASK]"`` or ``"<|endoftext|>"`` typed in a text is split off and stays whole.

A tokenizer looks for added tokens twice: for tokens marked ``normalized=False`` (usually the special
tokens) in the text as typed, and for all other added tokens in the text after normalization.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers

from lab.text.tokenizers.normalization import AlignedText
from lab.text.tokenizers.pieces import Piece

_BERT, _WORD = pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Whitespace()


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text between added tokens, or one added token.

    Attributes
    ----------
    aligned
        The segment's characters and their original places.
    token_id
        The added token's id; None for a stretch that the model still has to cut.
    """

    aligned: AlignedText
    token_id: int | None

    def normalized(self, stages: Sequence[normalizers.Normalizer]) -> Segment:
        """Return a stretch of the typed text in its normalized form; an added token is unchanged."""
        if self.token_id is not None:
            return self
        return Segment(AlignedText.of(self.aligned.text, self.aligned.spans[0][0], stages), None)

    def added(self) -> Piece | None:
        """Return the segment as a whole added token; None if it is a stretch of text."""
        text = self.aligned.text
        return None if self.token_id is None else Piece(text, self.token_id, self.aligned.span(0, len(text)))


def split_added_tokens(tokenizer: Tokenizer, segments: list[Segment], *, normalized: bool = False) -> list[Segment]:
    """Split added tokens off those segments that are stretches of text.

    Parameters
    ----------
    tokenizer
        The tokenizer. If its ``encode_special_tokens`` is set, special tokens are treated as text.
    segments
        The segments found so far.
    normalized
        False for the first search, for tokens marked ``normalized=False``. True for the second search, for which the
        spelling of the added tokens is normalized, too.

    Returns
    -------
    The segments in order, without empty segments.

    Raises
    ------
    ValueError
        If two added tokens are spelled alike after normalization, or if one is empty, because the library's own result
        is then arbitrary.
    """
    tokens = _candidates(tokenizer, normalized)
    if not tokens:
        return [segment for segment in segments if segment.aligned.text]
    # Find the leftmost match, and the longest among matches with the same start.
    pattern = re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))
    result: list[Segment] = []
    for segment in segments:
        if segment.token_id is not None:
            result.append(segment)
            continue
        matches = _matches(tokenizer, segment.aligned.text, pattern, tokens)
        result.extend(_cut(segment.aligned, matches))
    return result


_Match = tuple[int, int, int]  # start, end, token id


def _candidates(tokenizer: Tokenizer, normalized: bool) -> dict[str, tuple[int, AddedToken]]:
    """Return the added tokens to search for, by their spelling in the searched text."""
    found: dict[str, tuple[int, AddedToken]] = {}
    for token_id, token in tokenizer.get_added_tokens_decoder().items():
        if token.normalized is not normalized:
            continue
        spelled = token.content
        if normalized and tokenizer.normalizer is not None:
            spelled = tokenizer.normalizer.normalize_str(spelled)
        if not spelled:
            raise ValueError(
                f"Nothing is left of the added token {token.content!r} after normalization, so the "
                "library would find it between any two characters. Add it with normalized=False."
            )
        if spelled in found:
            raise ValueError(
                f"The added tokens {found[spelled][1].content!r} and {token.content!r} are both spelled "
                f"{spelled!r} after normalization, and the library takes either at random. Remove one."
            )
        found[spelled] = (token_id, token)
    return found


def _matches(
    tokenizer: Tokenizer,
    text: str,
    pattern: re.Pattern[str],
    tokens: dict[str, tuple[int, AddedToken]],
) -> Iterator[_Match]:
    previous_end = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        token_id, token = tokens[match.group()]
        if tokenizer.encode_special_tokens and token.special:
            continue
        if token.single_word and _inside_word(text, start, end):
            continue
        if token.lstrip:
            while start > previous_end and is_whitespace(text[start - 1]):
                start -= 1
            start = max(start, previous_end)
        if token.rstrip:
            while end < len(text) and is_whitespace(text[end]):
                end += 1
        yield start, end, token_id
        previous_end = end


@lru_cache(1 << 14)
def is_whitespace(character: str) -> bool:
    """True if the character has Unicode's White_Space property, in the library's edition of Unicode."""
    return not _BERT.pre_tokenize_str(character)


@lru_cache(1 << 14)
def _is_word_character(character: str) -> bool:
    r"""True if ``\w`` matches the character in the library: letters, marks, decimal digits, connectors."""
    return len(_WORD.pre_tokenize_str(f"a{character}")) == 1 and not is_whitespace(character)


def _inside_word(text: str, start: int, end: int) -> bool:
    before = start > 0 and _is_word_character(text[start - 1])
    after = end < len(text) and _is_word_character(text[end])
    return before or after


def _cut(aligned: AlignedText, matches: Iterator[_Match]) -> Iterator[Segment]:
    done = 0
    for start, end, token_id in matches:
        if done < start:
            yield Segment(aligned.cut(done, start), None)
        yield Segment(aligned.cut(start, end), token_id)
        done = end
    if done < len(aligned.text):
        yield Segment(aligned.cut(done, len(aligned.text)), None)
