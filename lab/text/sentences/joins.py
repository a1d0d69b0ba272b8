"""Ends that are not ends: a sentence goes on after a quotation inside it and after the number of a list's entry."""

from __future__ import annotations

import re
from typing import Final

# A mark and the quotes and brackets that close after it. The German and the old typewriter's closing quotes are among
# them: „…“ and ``…''.
_CLOSED: Final = re.compile(r"([.?!…])['\"”’»›“‘)\]}]+$")
_OPENING: Final = "\"'“‘„‚«‹`(["
# "John Smith asked": a speaker and a verb of speaking in the words after a quotation.
_SPEAKER: Final = re.compile(
    r"(?:I|[A-Z][\w’'.-]*(?: [A-Z][\w’'.-]*){0,2}) "
    r"(?:said|says|asked|asks|cried|cries|replied|answered|shouted|whispered|exclaimed|called|screamed|yelled|added)\b"
)
# The number of a list's entry: "1.", "2.1.", "(3).", "b.", "iv." at the start of a sentence or after a colon.
_ENTRY: Final = re.compile(r"(?:^|[:;,]\s+)[(\[]?((?:\d{1,3}\.)*\d{1,3}|[A-Za-z]|[ivxlc]{1,6}|[IVXLC]{1,6})[)\]]?\.$")
_LATER_ENTRY: Final = re.compile(r"\s(\d{1,3})\.$")


def goes_on(sentence: str, following: str, before: str) -> bool:
    """Return whether a sentence goes on after what looks like its end.

    Parameters
    ----------
    sentence
        The sentence up to the end that is in doubt.
    following
        The text after that end, without white space at its start.
    before
        The sentence before, or "" for the first sentence.
    """
    return _after_quotation(sentence, following) or _after_number(sentence, before)


def _after_quotation(sentence: str, following: str) -> bool:
    """Return whether a quotation or a bracket has just closed inside a sentence: “Go away!” he said."""
    closed = _CLOSED.search(sentence)
    if closed is None:
        return False
    if following.lstrip(_OPENING)[:1].islower():
        return True
    return closed[1] != "." and sentence[0] in _OPENING and _SPEAKER.match(following) is not None


def _after_number(sentence: str, before: str) -> bool:
    """Return whether the sentence is only the number of a list's entry up to here, as in "1. Wash the rice."

    After a question, a number is an answer: "How many? 3. That is enough."
    """
    if (entry := _ENTRY.search(sentence)) is not None:
        return entry.start() > 0 or not before.endswith("?")
    later = _LATER_ENTRY.search(sentence)
    return later is not None and re.search(rf"(?:^|\s){int(later[1]) - 1}\.\s", sentence[: later.start()]) is not None
