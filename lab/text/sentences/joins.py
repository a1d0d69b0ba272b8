"""Ends that are not ends: a sentence goes on after a quotation inside it, a list's number, and P.S."""

from __future__ import annotations

import re
from typing import Final

# Before a name, a title ends no sentence; before a number, neither does a word of the second set, nor one without a
# vowel. By themselves, many of them are ordinary words, such as "fig" and "gen".
TITLES: Final = re.compile(
    "adm|amb|atty|br|brig|capt|cdr|cmdr|col|cpl|cpt|det|dr|fr|ft|gen|gov|hon|insp|lieut|lt|maj|messrs|mlle|mme|mrs?|ms|"
    "mt|mx|pfc|pres|prof|pvt|rep|rev|sen|sgt|spc|ste?|supt"
)
BEFORE_NUMBERS: Final = re.compile(
    "abs|alg|app|approx|apt|args?|arts?|bk|ca|chaps?|circa|col|def|div|ed|eqs?|eqn|ex|ext|figs?|fol|hwy|lem|max|min|"
    "nos?|op|paras?|prop|refs?|rev|rte|secs?|sect|tab|tel|ver|vols?"
)
# The mark before the quotes and brackets that close a quotation; „…“ and ``…'' close with “ and ''.
_CLOSED: Final = re.compile(r"([.?!…])(['\"”’»›“‘]+|[)\]}]+)$")
_OPENING: Final = "\"'“‘„‚«‹`"
# "John Smith asked": a speaker and a verb of speaking.
_SPEAKER: Final = re.compile(
    r"(?:I|[A-Z][\w’'.-]*(?: [A-Z][\w’'.-]*){0,2}) "
    r"(?:said|says|asked|asks|cried|cries|replied|answered|shouted|whispered|exclaimed|called|screamed|yelled|added)\b"
)
_COMMA: Final = re.compile(r"['\"”’»›“‘)\]]+[,;]")
_ADDRESS: Final = re.compile(r"\w+://|www\.")
_DIGITS: Final = r"(?:\d{1,3}\.)*\d{1,3}"
_LETTERS: Final = r"[A-Za-z]|x{0,3}(?:ix|iv|v?i{0,3})|X{0,3}(?:IX|IV|V?I{0,3})"  # Roman numbers to 39
_ENTRY: Final = re.compile(rf"[(\[]?(?=\w)(?:{_DIGITS}|{_LETTERS})[)\]]?\.[)\]]?(?!\w)")
_AFTER_COLON: Final = re.compile(rf":\s+{_ENTRY.pattern}$")
_POSTSCRIPT: Final = re.compile(r"(?:P\.)+S\.|N\.B\.")
_LATER_ENTRY: Final = re.compile(r"\s(\d{1,3})\.$")
# Names that end with a mark; after them, a sentence goes on with a small letter.
_NAME: Final = re.compile(
    r"\b(?:Airplane|Jeopardy|Joomla|Mamma Mia|Moulin Rouge|Oklahoma|Panic|Westward Ho|Wham|Yahoo|Yum)!$"
)
# German writes "third" as "3."; months that English has, too, need a word that only German has before the number.
_GERMAN_DAY: Final = re.compile(r"(?:^|\s)(?:[1-9]|[12]\d|3[01])\.$")
_GERMAN_MONTH: Final = re.compile(r"(?:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember)\b")
_GERMAN_NUMBER: Final = re.compile(r"\b(?:[Ii]m|[Vv]om|[Zz]um|[Zz]ur|[Dd]er|[Dd]em|[Dd]es|[Dd]as)\s\d{1,2}\.$")
_AM_DAY: Final = re.compile(r"\b[Aa]m\s\d{1,2}\.$")
_SHARED_MONTH: Final = re.compile(r"(?:April|August|September|November)\b")


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
    return (
        _after_quotation(sentence, following)
        or _after_number(sentence, before)
        or (_NAME.search(sentence) is not None and following[:1].islower())
        or _in_german(sentence, following)
        or _POSTSCRIPT.fullmatch(sentence) is not None
    )


def _after_quotation(sentence: str, following: str) -> bool:
    """Return whether a quotation, or a question in brackets, has closed inside a sentence, as in “Go away!” he said."""
    if _COMMA.match(following):
        return True
    closed = _CLOSED.search(sentence)
    if closed is None or (closed[1] == "." and closed[2][0] in ")]}"):
        return False
    if following.lstrip(_OPENING)[:1].islower():
        return _ADDRESS.match(following) is None
    return closed[1] != "." and sentence[0] in _OPENING and _SPEAKER.match(following) is not None


def is_shortened(word: str) -> bool:
    """Return whether a word is short for another that a number or a name follows, as "fig" and "Capt"."""
    return BEFORE_NUMBERS.fullmatch(word.lower()) is not None or TITLES.fullmatch(word.lower()) is not None


def _in_german(sentence: str, following: str) -> bool:
    """Return whether the number at the end of a German sentence belongs to the word after it: am 3. Mai."""
    if _GERMAN_DAY.search(sentence) and _GERMAN_MONTH.match(following):
        return True
    if _AM_DAY.search(sentence) and _SHARED_MONTH.match(following):
        return True
    return _GERMAN_NUMBER.search(sentence) is not None and following[:1].isupper()


def _after_number(sentence: str, before: str) -> bool:
    """Return whether a list's entry begins with the number at the end of ``sentence``, as in "1. Wash the rice."

    After a question, a number is an answer: "How many? 3. That is enough." A capital letter is a number only at the
    start of the text, or after another entry.
    """
    if _AFTER_COLON.search(sentence):
        return True
    if _ENTRY.fullmatch(sentence):
        if sentence.upper() == sentence and not re.search(r"\d", sentence):
            return not before or _ENTRY.match(before) is not None
        return not before.endswith("?")
    later = _LATER_ENTRY.search(sentence)
    return later is not None and re.search(rf"(?:^|\s){int(later[1]) - 1}\.\s", sentence[: later.start()]) is not None
