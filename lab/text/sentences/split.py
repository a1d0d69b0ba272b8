"""Where the sentences of a text are, and in which of them each token stands: by character offsets only."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lab.text.tokenizers.pieces import Span

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer


# What ends a sentence whatever stands around it: a blank line, or a full-width mark with the closing
# quotes and brackets after it. Chinese and Japanese put no space there, and Punkt looks only at spaces.
_CERTAIN_END: Final = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*(?>\r\n?|\n)|\u2029|[。！？｡]+[”’」』）】》〉\"')\]]*")

# "Really?! Yes . . . no": a mark after a mark begins no sentence of its own.
_MARKS: Final = re.compile(r"[.?!؟…\s]+")


def _blocks(text: str) -> Iterator[Span]:
    """Stretches of the text that no sentence reaches beyond, end to end."""
    return pairwise((0, *(match.end() for match in _CERTAIN_END.finditer(text)), len(text)))


def spans_of(tokenizer: PunktSentenceTokenizer, text: str) -> tuple[Span, ...]:
    """As :func:`sentence_spans`, with any Punkt tokenizer."""
    spans: list[Span] = []
    for first, last in _blocks(text):
        block = text[first:last]
        known = len(spans)
        for start, end in tokenizer.span_tokenize(block):
            sentence = block[start:end]
            blank = len(sentence) - len(sentence.lstrip())
            if blank == len(sentence):
                continue
            span = (first + start + blank, first + start + len(sentence.rstrip()))
            if len(spans) > known and _MARKS.fullmatch(sentence):
                span = (spans.pop()[0], span[1])
            spans.append(span)
    return tuple(spans)


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Find the sentences of a text with Punkt (Kiss & Strunk 2006) and the parameters that ship with the lab.

    Parameters
    ----------
    text
        Any string. A line break is a space; a blank line always ends a sentence.

    Returns
    -------
    The characters ``(start, end)`` of each sentence in reading order: without white space around it, never empty. Every
    character between two of them is white space. ``()`` for a text of white space alone.

    Raises
    ------
    SentencesUnavailable
        If the parameters are missing or damaged.
    """
    from lab.text.sentences.punkt import embedded_tokenizer

    return spans_of(embedded_tokenizer(), text)


def sentence_of_tokens(offsets: Sequence[Span], spans: Sequence[Span]) -> tuple[int | None, ...]:
    """Say for each token in which sentence it stands.

    Parameters
    ----------
    offsets
        For each of n tokens the characters ``(start, end)`` it stands for, as :attr:`lab.models.trace.Trace.offsets`
        gives them. In a pair they start again at 0 for the second text: pass the tokens of one text at a time.
    spans
        The sentences of that text, as :func:`sentence_spans` gives them.

    Returns
    -------
    n sentence numbers from 0. A token across a boundary belongs to the sentence where its first character that is in
    one stands. None for a token in no sentence: a special token, whose offsets are empty, or white space between two
    sentences.
    """
    ends = [end for _, end in spans]

    def sentence(start: int, end: int) -> int | None:
        following = bisect_right(ends, start)
        inside = start < end and following < len(spans) and spans[following][0] < end
        return following if inside else None

    return tuple(sentence(start, end) for start, end in offsets)
