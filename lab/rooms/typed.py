"""Texts and numbers that people type in a room: a text gets one form, and a number can be written in many ways."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lab.models.encoding import clean
from lab.questions.forms import Bounds

_LONGEST = 40
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{ARABIC DECIMAL SEPARATOR}": ","})
_WRITTEN = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3}){2,}|(\.\d{3})+,\d+)")

# Signs without a width: soft hyphen, joiners, and marks of direction. They do not tell two texts apart for a reader.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def one_line(text: str) -> str:
    """Bring a text into the one form in which a room keeps it: composed, on one line, without control characters.

    >>> one_line("  5\\u00a0%\\nof cafe\\u0301s ")
    '5 % of cafés'
    """
    signs = unicodedata.normalize("NFC", clean(text))
    return " ".join("".join(sign for sign in signs if sign.isspace() or unicodedata.category(sign) != "Cc").split())


def are_told_apart(lines: Sequence[str]) -> bool:
    """Return whether a reader sees something of each of these lines, and no two of them look the same."""
    seen = {one_line(_UNSEEN.sub("", line)) for line in lines}
    return "" not in seen and len(seen) == len(lines)


class NotANumber(ValueError):
    """Raised for a text that cannot be an answer; the message says which answers are possible."""


def read_number(typed: str, bounds: Bounds) -> float:
    """Read a typed number within ``bounds``. Raises NotANumber.

    >>> read_number("0,25", Bounds(0, 1, ""))
    0.25
    >>> read_number("25 %", Bounds(0, 1, ""))
    0.25
    >>> read_number("1.5 nats", Bounds(0, 9, "nats"))
    1.5
    """
    text = "".join(typed.translate(_MINUS).split()).removesuffix("".join(bounds.unit.split()))
    percent = is_share(bounds) and text.endswith("%")
    found = {each / 100 for each in _readings(text.removesuffix("%"))} if percent else _readings(text)
    if not found:
        raise NotANumber(f"That is not a number. {wanted(bounds)}")
    possible = sorted(each for each in found if bounds.accepts(each))
    if not possible:
        raise NotANumber(f"This number cannot be the answer. {wanted(bounds)}")
    if len(possible) > 1:
        as_, or_ = (f"{each:.15g}" for each in possible)
        raise NotANumber(f"Is it {as_} or {or_}? Use a point before the decimals, and no mark for thousands.")
    return possible[0]


def is_share(bounds: Bounds) -> bool:
    """Return whether the number is a share of a whole, which can also be written as a percentage."""
    return bounds.low >= 0 and bounds.high == 1


def wanted(bounds: Bounds) -> str:
    """A sentence that says which numbers can be typed."""
    if is_share(bounds):
        return "Type a number from 0 to 1, as 0.25, or a percentage, as 25%."
    return "Type a number, as 12.5."


def _readings(text: str) -> set[float]:
    """The numbers that a text can mean: one number, or two if its mark may separate decimals or thousands."""
    found = set()
    if len(text) <= _LONGEST:
        if _WRITTEN.fullmatch(text):
            found.add(float(text.replace(",", ".")))
        if _GROUPED.fullmatch(text) and not text.lstrip("+-").startswith("0"):
            found.add(_grouped(text))
    return found


def _grouped(text: str) -> float:
    """The number if the first of its two marks separates thousands."""
    thousands, decimal = (",", ".") if "," in text.partition(".")[0] else (".", ",")
    return float(text.replace(thousands, "").replace(decimal, "."))
