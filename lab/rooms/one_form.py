"""Texts that people type in a room: each gets one form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lab.models.encoding import clean

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
