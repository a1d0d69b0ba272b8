"""Prepare labels from a learner's text for drawing, listing and comparing."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

_JOINERS = {"\u200c", "\u200d"}  # joiners, which Persian words and emoji families need
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_RIGHT_TO_LEFT = {"R", "AL"}


@lru_cache(maxsize=4096)
def visible(text: str, limit: int | None = 24) -> str:
    """Return at most `limit` characters of `text`, with a sign for each invisible or order-changing character.

    A newline becomes \\n and a tab \\t, any other control or format character its number (the right-to-left
    override: ⟨202E⟩), an outer space ␣, half a surrogate pair �.
    The result can be encoded and cannot reorder the text beside it, but it is NOT escaped for HTML.
    """
    if not text:
        return "(empty)"
    inner = range(len(text) - len(text.lstrip()), len(text.rstrip()))
    pieces = [_sign(char, outer=place not in inner) for place, char in enumerate(text)]
    if limit is not None and len(pieces) > limit:
        pieces = [*pieces[: limit - 1], "…"]
    return "".join(pieces)


def _sign(char: str, *, outer: bool) -> str:
    category = unicodedata.category(char)
    if char in _ESCAPES:
        return _ESCAPES[char]
    if category == "Cs":
        return "\ufffd"
    if category in {"Cc", "Cf", "Zl", "Zp"} and char not in _JOINERS:
        return f"⟨{ord(char):04X}⟩"
    return "␣" if category == "Zs" and outer else char


def distinct(labels: Sequence[str]) -> list[str]:
    """Make `labels` unique: each label that occurs more than once gets its position, counted from 1 (`the·5`)."""
    counts = Counter(labels)
    taken = {label for label, count in counts.items() if count == 1}
    result = []
    for position, label in enumerate(labels, start=1):
        name = label
        if counts[label] > 1:
            name = f"{label}·{position}"
            while name in taken:
                name += f"·{position}"
            taken.add(name)
        result.append(name)
    return result


def direction(text: str) -> str:
    """Return `"rtl"` or `"ltr"`: the direction of the first character of `text` that has a direction."""
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind in _RIGHT_TO_LEFT:
            return "rtl"
        if kind == "L":
            return "ltr"
    return "ltr"
