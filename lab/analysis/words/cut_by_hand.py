"""Match words cut by hand ("mary's | little lamb") with the text, character by character."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from lab.analysis.words.word_groups import Words, words_of
from lab.models.encoding import Encoding

_SEPARATORS = ("|", "¦", "‖", "⁞")


class CutError(ValueError):
    """Raised if the cut does not fit the text; the message is written for the learner."""


def separator(encoding: Encoding) -> str:
    """Return the sign to put between two words: a bar, or a different sign if the text contains bars."""
    text = encoding.text + (encoding.pair or "")
    return next((sign for sign in _SEPARATORS if sign not in text), _SEPARATORS[-1])


def without_special(encoding: Encoding) -> Words:
    """Return the tokenizer's own words, without special tokens."""
    words = words_of(encoding)
    kept = [word for word, special in enumerate(words.special) if not special]
    number = {word: place for place, word in enumerate(kept)}
    return Words(
        groups=tuple(number[word] for word in words.groups if word in number),
        labels=tuple(words.labels[word] for word in kept),
        special=(False,) * len(kept),
        in_pair=tuple(words.in_pair[word] for word in kept),
    )


def default_cut(encoding: Encoding) -> str:
    """Return the tokenizer's own words as a cut that a learner could type."""
    return f" {separator(encoding)} ".join(without_special(encoding).labels)


def cut_words(encoding: Encoding, cut: str) -> Words:
    """Return the words of ``cut``, a copy of the text (followed by the second text) with separators between words.

    Spaces, capitals and invisible characters, which the tokenizer drops, make no difference; every other
    character that the model read must be there in order. The groups cover only tokens that are not special.

    Raises
    ------
    CutError
        If a part does not match the text at its place, if text is left over, or if a cut is inside a token.
    """
    sign, dropped = separator(encoding), _dropped(encoding)
    parts = [part for part in cut.split(sign) if any(_solid(part, dropped))]
    if not parts:
        raise CutError(f"Type the text with {sign} between its words.")
    spans = list(_spans(encoding, parts, sign, dropped))
    groups = _groups(encoding, spans, parts, sign)
    kept = sorted(set(groups))
    texts = (encoding.text, encoding.pair or "")
    return Words(
        groups=tuple(kept.index(group) for group in groups),
        labels=tuple(texts[spans[i][0]][spans[i][1] : spans[i][2]] for i in kept),
        special=(False,) * len(kept),
        in_pair=tuple(spans[i][0] == 1 for i in kept),
    )


def _dropped(encoding: Encoding) -> frozenset[str]:
    """Return the characters that never occur in a token, such as control characters in BERT."""
    covered: tuple[set[int], set[int]] = (set(), set())
    for (start, end), second in zip(encoding.offsets, encoding.in_pair, strict=True):
        covered[second].update(range(start, end))
    texts = (encoding.text, encoding.pair or "")
    read = {texts[which][place] for which in range(2) for place in covered[which]}
    return frozenset((*texts[0], *texts[1])) - read


def _solid(text: str, dropped: frozenset[str], until: int | None = None) -> Iterator[tuple[int, str]]:
    """The places and characters to match, without spaces, invisible and dropped characters."""
    for place, char in enumerate(text[:until]):
        if not char.isspace() and char not in dropped and unicodedata.category(char) not in ("Cc", "Cf", "Cs"):
            yield place, char.casefold()


def _spans(
    encoding: Encoding, parts: Sequence[str], sign: str, dropped: frozenset[str]
) -> Iterator[tuple[int, int, int]]:
    """Return for each part the text (0 or 1), the start and the end."""
    texts, ends = (encoding.text, encoding.pair or ""), [0, 0]
    for (_, end), second in zip(encoding.offsets, encoding.in_pair, strict=True):
        # If the text was cut at the model's limit, match only the part that was read.
        ends[second] = max(ends[second], end)
    read = [(which, place, char) for which in range(2) for place, char in _solid(texts[which], dropped, ends[which])]
    at = 0
    for part in parts:
        wanted = [char for _, char in _solid(part, dropped)]
        found = read[at : at + len(wanted)]
        if [char for _, _, char in found] != wanted:
            there = f"has “{texts[found[0][0]][found[0][1] :][:20].strip()}” there" if found else "is at its end"
            raise CutError(f"{part.strip()[:30]} does not match the text, which {there}.")
        if found[0][0] != found[-1][0]:
            raise CutError(f"{part.strip()[:30]} runs from the first sentence into the second: put a {sign} between.")
        yield found[0][0], found[0][1], found[-1][1] + 1
        at += len(wanted)
    if at < len(read):
        rest = texts[read[at][0]][read[at][1] :][:20]
        raise CutError(f"The cut ends before the text does: {rest.strip()} is left over.")


def _groups(encoding: Encoding, spans: Sequence[tuple[int, int, int]], parts: Sequence[str], sign: str) -> list[int]:
    """The part of each token that is not special; a token of only spaces belongs to the part of the token before."""
    groups: list[int] = []
    part_at = {(text, place): word for word, (text, start, end) in enumerate(spans) for place in range(start, end)}
    for token, (start, end), second, special in zip(
        encoding.tokens, encoding.offsets, encoding.in_pair, encoding.special, strict=True
    ):
        if special:
            continue
        own = sorted({part_at[second, at] for at in range(start, end) if (second, at) in part_at})
        if len(own) > 1:
            left, right = (parts[word].strip()[:20] for word in own[:2])
            raise CutError(f"The cut {left} {sign} {right} goes through the token {token}.")
        groups.append(own[0] if own else groups[-1] if groups else 0)
    return groups
