"""Find the sentences of a text and assign tokens to sentences, using only character offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lab.text.sentences.joins import goes_on, is_shortened
from lab.text.tokenizers.cut_text import Span

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer


_BREAK: Final = r"(?>\r\n?|\n)"
# In Japanese, a quotation goes on with what was done with it: 「行こう。」と言った.
_SPEAKS: Final = r"(?<=[”’」』])[とっ、，]"
_NUMBER: Final = r"(?:\d{1,3}|[IVXLC]{1,7}|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten)"
# Ends that are certain: a blank line; a full-width mark with the closing quotes and brackets after it, as Chinese and
# Japanese have no space there, and Punkt looks only at spaces; the end of a heading, and of a line before a bullet.
_CERTAIN_END: Final = re.compile(
    rf"{_BREAK}[^\S\r\n]*{_BREAK}|\u2029"
    rf"|(?>[。！？｡]+[”’」』）】》〉\"')\]]*)(?!{_SPEAKS})"
    rf"|^[^\S\r\n]*(?i:chapter|part|book|act|scene|appendix)[^\S\r\n]+{_NUMBER}[^\S\r\n]*{_BREAK}(?!\s*[a-z])"
    rf"|{_BREAK}(?=[^\S\r\n]*[•‣◦▪●○■◆▶✓✔➤]\s)",
    re.MULTILINE,
)
# A line that begins with a dash or a star is an entry of a list if another line does so, too.
_LISTED: Final = re.compile(r"^[^\S\r\n]*([-*–—])[^\S\r\n]+(?=\S)", re.MULTILINE)
# The number of a note right after the mark that ends a sentence: "It was dark.1 Then", "dark.[2] Then".
_NOTE: Final = re.compile(
    r"(?:\b([A-Za-z]{3,})[.?!][”’\"]?\d{1,3}|[.?!][”’\"]?(?:\[\d{1,3}\]|[⁰¹²³⁴-⁹]{1,3}))(?=\s+[“‘\"'(\[]?[A-Z])"
)

# Quotes and the number of a note that Punkt has cut off from their sentence.
_TAIL: Final = re.compile(r"[”’\"]?(?:\[\d{1,3}\]|\d{1,3})")
# A mark after another mark does not begin a new sentence, as in "Really?! Yes . . . no".
_MARKS: Final = re.compile(r"[.?!؟…\s]+")
# Dots with spaces between them are an ellipsis, which Punkt knows as "...".
_SPACED_DOTS: Final = re.compile(r"\.(?:[^\S\r\n]\.){2,}")
_WINDOW: Final = 100  # characters after an end that decide whether it is one


def _blocks(text: str) -> Iterator[Span]:
    """Yield adjacent stretches of the text, each of which contains only whole sentences."""
    ends = {match.end() for match in _CERTAIN_END.finditer(text)}
    listed = list(_LISTED.finditer(text))
    lines = Counter(line[1] for line in listed)
    ends.update(line.start() for line in listed if lines[line[1]] > 1)
    ends.update(note.end() for note in _NOTE.finditer(text) if not is_shortened(note[1] or ""))
    return pairwise(sorted({0, *ends, len(text)}))


def spans_of(tokenizer: PunktSentenceTokenizer, text: str) -> tuple[Span, ...]:
    """Find the spans of :func:`sentence_spans` with any Punkt tokenizer."""
    spans: list[Span] = []
    for first, last in _blocks(text):
        block = _SPACED_DOTS.sub(lambda found: "." * len(found[0]), text[first:last])
        known = len(spans)
        for start, end in tokenizer.span_tokenize(block):
            sentence = block[start:end]
            blank = len(sentence) - len(sentence.lstrip())
            if blank == len(sentence):
                continue
            span = (first + start + blank, first + start + len(sentence.rstrip()))
            if len(spans) > known and (_is_tail(sentence, span[0] - spans[-1][1]) or _in_one(text, spans, span[0])):
                span = (spans.pop()[0], span[1])
            spans.append(span)
    return tuple(spans)


def _is_tail(piece: str, gap: int) -> bool:
    """Return whether a piece, so many characters after a sentence, is only marks, or the number of a note."""
    return bool(_MARKS.fullmatch(piece) or (not gap and _TAIL.fullmatch(piece)))


def _in_one(text: str, spans: Sequence[Span], start: int) -> bool:
    """Return whether the last of ``spans`` goes on with the text from ``start``."""
    *_, last = spans
    before = text[slice(*spans[-2])] if len(spans) > 1 else ""
    return goes_on(text[slice(*last)], text[start : start + _WINDOW], before)


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Find the sentences of a text with Punkt (Kiss & Strunk 2006) and the parameters that ship with the lab.

    Parameters
    ----------
    text
        Any string. A line break is a space; a blank line always ends a sentence.

    Returns
    -------
    The characters ``(start, end)`` of each sentence in reading order, without white space around it, never empty. All
    characters between two sentences are white space. ``()`` for a text of only white space.

    Raises
    ------
    SentencesUnavailable
        If the parameters are missing or damaged.
    """
    from lab.text.sentences.punkt import embedded_tokenizer

    return spans_of(embedded_tokenizer(), text)


def sentence_of_tokens(offsets: Sequence[Span], spans: Sequence[Span]) -> tuple[int | None, ...]:
    """Assign each token to its sentence.

    Parameters
    ----------
    offsets
        The characters ``(start, end)`` of each of n tokens, as in :attr:`lab.models.trace.Trace.offsets`.
        In a pair, offsets start again at 0 for the second text, so pass the tokens of one text at a time.
    spans
        The sentences of the same text, as from :func:`sentence_spans`.

    Returns
    -------
    n sentence numbers from 0. A token that crosses a boundary belongs to the sentence of its first character that is in
    one. None for a token in no sentence: a special token, whose offsets are empty, or white space between two
    sentences.
    """
    ends = [end for _, end in spans]

    def sentence(start: int, end: int) -> int | None:
        following = bisect_right(ends, start)
        inside = start < end and following < len(spans) and spans[following][0] < end
        return following if inside else None

    return tuple(sentence(start, end) for start, end in offsets)
