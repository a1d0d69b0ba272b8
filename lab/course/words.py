"""Tokens, heads and numbers, written into sentences of the lab."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import places_left_out
from lab.course.glossary import uses
from lab.models.encoding import BLANK

if TYPE_CHECKING:
    from lab.models.encoding import Encoding
    from lab.models.interventions import Head
    from lab.models.trace import Trace

# The smallest difference that is visible in two decimals.
VISIBLE = 0.01

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ENDS = tuple(f"{sign}{end}" for sign in (".", "!", "?", "…") for end in ("”", "\u2069”"))  # quotations' ends
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def in_words(count: int) -> str:
    """Write a small number as a word: 6 as "six"; a number above twelve in digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def escaped(text: str) -> str:
    """``text`` escaped for Markdown, so that no HTML, LaTeX or directives of Streamlit take effect."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def token_in_words(name: str) -> str:
    """Write the name of a token for Markdown: escaped, unless it is a term of the glossary, which explains itself."""
    return name if any(uses(name)) else escaped(name)


def plain(markdown: str) -> str:
    """The text that was given to :func:`escaped`, up to white space: the inverse function."""
    return _ESCAPE.sub(r"\1", markdown)


def unmarked(markdown: str) -> str:
    """The lab's own Markdown as plain text: without its marks, and with escaped characters as they were typed."""
    pieces = _ESCAPE.split(markdown)  # every second piece is a sign that was escaped
    pieces[::2] = [piece.replace("*", "") for piece in pieces[::2]]
    return "".join(pieces)


def in_html(markdown: str) -> str:
    """Write the lab's own Markdown as HTML.

    >>> in_html(r"**W_Q** and “\\<b\\>”")
    '<strong>W_Q</strong> and “&lt;b&gt;”'
    """
    pieces = _ESCAPE.split(
        markdown
    )  # every second piece is a sign that was escaped, so an asterisk there marks nothing
    pieces[::2] = [html.escape(piece, quote=False) for piece in pieces[::2]]
    pieces[1::2] = ["&#42;" if sign == "*" else html.escape(sign, quote=False) for sign in pieces[1::2]]
    strong = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", "".join(pieces))
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", strong)


def quoted(token: str) -> str:
    """Put a token into quotation marks, safe in Markdown, and independent of the direction of the text around it.

    The marks U+2068 and U+2069 isolate right-to-left text from the sentence around it.
    """
    return f"“\u2068{escaped(token)}\u2069”"


def stopped(told: str) -> str:
    """End a sentence with a full stop, unless a quotation at its end already has one.

    >>> stopped("Asked about a toy")
    'Asked about a toy.'
    """
    return told if told.endswith(_ENDS) else f"{told}."


def named(trace: Trace, position: int) -> str:
    """Name a token by its text and its position, from 1, which tells equal tokens apart."""
    return f"{quoted(trace.labels[position])} ({position + 1})"


def told_apart(trace: Trace, position: int) -> str:
    """Name a token by its text, and by its position, too, if the same token occurs elsewhere in the text."""
    return named(trace, position) if trace.labels.count(trace.labels[position]) > 1 else quoted(trace.labels[position])


def spoken(trace: Trace, position: int) -> str:
    """Name a token as in a sentence: “the blank” for a token that hides a word, otherwise as :func:`told_apart`."""
    only = trace.labels.count(BLANK) == 1
    return "the blank" if only and trace.labels[position] == BLANK else told_apart(trace, position)


def beside(value: float, limit: float, digits: int = 2) -> str:
    """Write a number with at least ``digits`` decimals, and with more if rounding would take it across ``limit``."""
    while digits < 9 and (round(value, digits) > limit, round(value, digits) < limit) != (value > limit, value < limit):
        digits += 1
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # to turn −0 into 0


def in_tex(value: float, digits: int = 5) -> str:
    """Write a number in LaTeX; small and large numbers have powers of ten."""
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def signed(value: float, digits: int = 2, *, plus: bool = False) -> str:
    """Write a number with a true minus sign, without a sign if it rounds to 0; ``plus`` gives all others a sign."""
    return format(value, f"{'+' if plus else ''}z,.{digits}f").replace("-", "−")


def with_minus(text: str) -> str:
    """Give the numbers of a text true minus signs; a hyphen inside a quoted token stays."""
    return re.sub(r"(?:(?<=[\s(])|^)-(?=\d)", "−", text)


def percent(probability: float) -> str:
    """Write a probability in whole percents; 0 and 100 mean that the probability is exactly 0 or 1."""
    if 0 < probability < 0.01:
        return "<1%"
    return ">99%" if 0.995 <= probability < 1 else f"{probability:.0%}"


def share(probability: float) -> str:
    """Write a probability with three decimals, as in the charts; 0 and 1 are written only if they are exact."""
    if 0 < probability < 0.0005:
        return f"{probability:.2g}"
    return "more than 0.999" if 0.9995 < probability < 1 else f"{probability:.3f}"


def capital(text: str) -> str:
    """``text`` with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def head_name(head: Head) -> str:
    """Name a head inside a sentence: its layer, and its number in the layer, both from 1."""
    return f"layer {head[0] + 1}, head {head[1] + 1}"


def aside(trace: Trace) -> str:
    """The tokens that are not words of the text: “[CLS] and [SEP]”, “the first token”. Not yet escaped."""
    out, special = places_left_out(trace)
    if not special:
        return "the first token"
    return listed([trace.labels[place] for place in np.flatnonzero(out)])


def resting_place(trace: Trace) -> str:
    """The tokens that are not words of the text, escaped for Markdown."""
    return escaped(aside(trace))


def listed(names: Sequence[str]) -> str:
    """Join names to “a”, “a and b” or “a, b and c”; each name occurs once."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def number_of(count: int, thing: str) -> str:
    """Count things: “1 head”, “3 heads”, “1,200 rows”; ``thing`` is one of them."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def place_of(encoding: Encoding, word: str) -> int | None:
    """The place, from 0, at which ``word`` is one token, whatever its capitals; None if the word is cut or missing."""
    spelled = [encoding.text[start:end].strip().lower() for start, end in encoding.offsets]
    return spelled.index(word.lower()) if word.lower() in spelled else None
