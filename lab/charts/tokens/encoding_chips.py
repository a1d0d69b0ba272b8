"""The tokens that the model reads, and the pre-tokens of a text, as chips for ``chips.token_chips``."""

from __future__ import annotations

from collections.abc import Sequence

from lab.charts.tokens.token_chips import Chip
from lab.models.encoding import Encoding
from lab.text.alignment import chips
from lab.text.tokenizers.cut_text import Span
from lab.text.tokenizers.explained import TokenizationSteps


def encoding_chips(encoding: Encoding) -> list[Chip]:
    """Cut both texts by their tokens; tokens that cover no character are placed between the others.

    Characters that no token covers are runs without positions, as are characters beyond the model's limit.
    """
    first = [i for i, added in enumerate(encoding.special) if not added and not encoding.in_pair[i]]
    second = [i for i in range(len(encoding)) if encoding.in_pair[i]]
    added = [i for i, special in enumerate(encoding.special) if special]
    cut = [_text_chips(encoding.text, first, encoding)]
    if encoding.pair is not None:
        cut.append(_text_chips(encoding.pair, second, encoding))
    result: list[Chip] = []
    for each, positions in zip(cut, (first, second), strict=False):
        begin = positions[0] if positions else len(encoding)
        result += [_empty(i, encoding) for i in added if i < begin]
        added = [i for i in added if i >= begin]
        result += each
    return result + [_empty(i, encoding) for i in added]


def _text_chips(text: str, positions: Sequence[int], encoding: Encoding) -> list[Chip]:
    offsets = [encoding.offsets[i] for i in positions]
    # A byte-level token that is only a trimmed space covers no character, but the model reads it.
    without = [i for i, (start, end) in zip(positions, offsets, strict=True) if start == end]
    result: list[Chip] = []
    for chip in chips(text, offsets):
        tokens = tuple(positions[i] for i in chip.tokens)
        while tokens and without and without[0] < tokens[0]:
            result.append(_empty(without.pop(0), encoding))
        label = " ".join(encoding.tokens[i] for i in tokens)
        result.append((chip.text, tokens, label if tokens else None))
    return result + [_empty(i, encoding) for i in without]


def _empty(position: int, encoding: Encoding) -> Chip:
    return "", (position,), encoding.tokens[position]


def pre_token_chips(steps: TokenizationSteps) -> list[Chip]:
    """A text as typed, cut by its pre-tokens; a pre-token that differs from the typed characters is the label."""
    spans: list[Span] = [word.span for word in steps.words]
    result: list[Chip] = []
    for chip in chips(steps.text, spans):
        label = " ".join(steps.words[i].text for i in chip.tokens) if chip.tokens else None
        result.append((chip.text, chip.tokens, label))
    return result
