"""Tags of words (part of speech, named entity, sentence) assigned to a model's tokens, for texts that look English.

Only character offsets are compared, never spellings, so it does not matter if a model strips accents, cuts
contractions elsewhere or splits emoji into bytes.

The lists of frequent words are our own: spaCy has longer lists, but importing them for twenty languages takes four
seconds.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from lab.models.encoding import Encoding
from lab.models.memo import once
from lab.text.tags.pipeline import TaggedText, pipeline
from lab.text.tokenizers.cut_text import Span

if TYPE_CHECKING:
    from lab.models.trace import Trace

TagT = TypeVar("TagT")
# The part of speech and the entity of each token, or None.
Tags = tuple[tuple[str | None, ...], tuple[str | None, ...]]


class TaggedSpan(NamedTuple, Generic[TagT]):
    """The characters ``start`` to ``end`` (exclusive) of a text, and their tag."""

    start: int
    end: int
    tag: TagT


def token_tags(offsets: Sequence[Span], tagged_spans: Sequence[TaggedSpan[TagT]]) -> tuple[TagT | None, ...]:
    """Return the tag of each token, taken from the span with which the token shares most characters.

    Parameters
    ----------
    offsets
        The characters ``(start, end)`` of each of n tokens. A token with an empty span, such as a
        special token's (0, 0), has no tag.
    tagged_spans
        Spans of the same text, ascending and without overlap, as from a tagger. Some characters may be outside all
        spans.

    Returns
    -------
    n tags; None for a token that overlaps no span. If overlaps are equal, the first span counts.

    Raises
    ------
    ValueError
        If the spans overlap or are out of order.
    """
    for before, after in pairwise(tagged_spans):
        if after.start < before.end:
            raise ValueError(
                f"The span from {after.start} begins before the one to {before.end} ends. Sort the "
                "spans, and give one kind of tag at a time."
            )
    ends = [span.end for span in tagged_spans]
    return tuple(_tag(token, tagged_spans[bisect_right(ends, token[0]) :]) for token in offsets)


def _tag(token: Span, spans: Sequence[TaggedSpan[TagT]]) -> TagT | None:
    """Return the tag of the span with the largest overlap; no span in ``spans`` ends before the token begins."""
    best, most = None, 0
    for span in takewhile(lambda span: span.start < token[1], spans):
        shared = min(token[1], span.end) - max(token[0], span.start)
        if shared > most:
            best, most = span.tag, shared
    return best


def encoding_tags(
    encoding: Encoding, text: Sequence[TaggedSpan[TagT]], pair: Sequence[TaggedSpan[TagT]] = ()
) -> tuple[TagT | None, ...]:
    """Return the tag of each token of an encoding, from ``text`` or from ``pair``; None for special tokens."""
    of_text, of_pair = token_tags(encoding.offsets, text), token_tags(encoding.offsets, pair)
    sides = zip(of_text, of_pair, encoding.in_pair, encoding.special, strict=True)
    return tuple(None if special else second if in_pair else first for first, second, in_pair, special in sides)


def speech_and_entities(encoding: Encoding, text: TaggedText, pair: TaggedText) -> Tags:
    """Return the part of speech and the entity of each token of an encoding; ``pair`` is empty for a single text."""
    found = (text, pair)
    speech = [[TaggedSpan(token.start, token.end, token.pos) for token in each.tokens] for each in found]
    entities = [[TaggedSpan(entity.start, entity.end, entity.label) for entity in each.entities] for each in found]
    return encoding_tags(encoding, *speech), encoding_tags(encoding, *entities)


def tagged(encoding: Encoding) -> Tags:
    """The part of speech and the entity of each token, by this machine's pipeline. Raises PipelineUnavailable."""
    tagger = pipeline()
    return speech_and_entities(encoding, tagger.tag(encoding.text), tagger.tag(encoding.pair or ""))


@once
def parsed(trace: Trace) -> TaggedText:
    """The tags of a trace's text (the first text of a pair) by this machine's pipeline. Raises PipelineUnavailable."""
    return pipeline().tag(trace.text)


@once
def trace_tags(trace: Trace) -> Tags:
    """Return the tags of a trace's tokens. Raises PipelineUnavailable."""
    return speech_and_entities(trace.encoding, parsed(trace), pipeline().tag(trace.pair or ""))


SMALL_WORDS = Path(__file__).with_name("small_words.txt")
ENGLISH = "English"
_BLOCK = re.compile(r"\[(.+)\]\n([^\[#]+)")
_WORD = re.compile(r"[^\W\d_]+")


def looks_english(text: str) -> bool:
    """Tell a text that is clearly not English from one that may be.

    A text does not look English if most of its letters belong to another script, or if more than a quarter of its words
    are small words of one other language. There must be at least two of these words, because one may be part of a name
    (Juan de Silva), and more of them than English small words. Any other text looks English: a name, a formula, an
    empty text.
    """
    letters = [each for each in text if each.isalpha()]
    if len(letters) > 2 and sum(map(_latin, letters)) < len(letters) / 2:
        return False
    words = [each.lower() for each in _WORD.findall(text)]
    known = small_words()
    english = sum(word in known[ENGLISH] for word in words)
    foreign = max(sum(word in own - known[ENGLISH] for word in words) for own in known.values())
    return foreign <= max(1, english, len(words) / 4)


def _latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))


@cache
def small_words() -> dict[str, frozenset[str]]:
    """Return the small words of each language for which the lab has a list."""
    blocks = _BLOCK.findall(SMALL_WORDS.read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in blocks}
