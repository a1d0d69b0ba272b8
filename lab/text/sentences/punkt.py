"""Punkt (Kiss & Strunk 2006): NLTK's sentence tokenizer with our own parameters, loaded without a download.

Importing this module imports nltk; :mod:`lab.text.sentences.split` imports this module only when a text is cut.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from nltk.tokenize.punkt import (
    PunktLanguageVars,
    PunktParameters,
    PunktSentenceTokenizer,
    PunktToken,
    load_punkt_params,
)

from lab.text.sentences.joins import BEFORE_NUMBERS, TITLES
from lab.text.sentences.unavailable import SentencesUnavailable

EMBEDDED: Final = Path(__file__).parents[1] / "embedded" / "punkt"
# The marks at the end of the second of two words, such as "?”" in "Dr. Smith?”".
_LAST_MARKS: Final = re.compile(r"(?<=\s)(\S*\w)(?:[?!؟]\W*|\.[^\w\s]+)$")


_DATES: Final = re.compile("Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec")
# "F.B.I." and "XIV." before a word in lower case.
_INITIALS: Final = re.compile(r"(?:[A-Z]\.){2,}|[IVXLC]{2,}\.")
_VOWELLESS: Final = re.compile(r"[B-DF-HJ-NP-TV-XZ]?[b-df-hj-np-tv-xz]+")
_NUMBER: Final = re.compile(r"[-–§#$£€]?\d.*|[A-Z]\d+.*|[ivxlc]{2,}|[vx]|[IVXLC]{2,}|[B-HJ-Z]")
# Abbreviations that were too rare in the training text; no other word is spelled like them.
_ABBREVIATIONS: Final = frozenset({"al", "cit", "eq", "eqs", "eqn", "figs", "ibid"})


class Language(PunktLanguageVars):
    """The rules for the shape of a sentence and a word, in training and in use.

    They are NLTK's rules with two additions. Arabic, Urdu, Devanagari, Armenian and Ethiopic marks end sentences. A
    curly quote, like a straight one, does not belong to a word: “Dr. Smith …” begins with "Dr.".
    """

    sent_end_chars = (".", "?", "!", "؟", "۔", "।", "॥", "։", "።")
    _re_word_start = r"[^\(\"\`{\[:;&\#\*@\)}\]\-,‘’“”«»]"


class Tokenizer(PunktSentenceTokenizer):
    """NLTK's tokenizer with two corrections.

    Titles before a name, short words before a number, and initials before a small letter end no sentence: "Capt. Cook",
    "fig. 3", "the F.B.I. in Texas".

    To decide if "Dr." ends a sentence in “Dr. Smith?”, NLTK looks at "Dr. Smith?”", the two words around
    the space, and takes any mark that is not the last token as a sentence end, here the question mark.
    """

    def __init__(self, parameters: PunktParameters) -> None:
        super().__init__(parameters, lang_vars=Language())
        self._params.abbrev_types |= _ABBREVIATIONS

    def text_contains_sentbreak(self, text: str) -> bool:
        """True if the first of two words ends a sentence; marks after the second word are ignored."""
        return super().text_contains_sentbreak(_LAST_MARKS.sub(r"\1", text))

    def _second_pass_annotation(self, aug_tok1: PunktToken, aug_tok2: PunktToken | None) -> str | None:
        """Decide whether a word's full stop ends a sentence, from the word after it."""
        if aug_tok2 is not None and aug_tok1.period_final and self._shortened(aug_tok1, aug_tok2):
            aug_tok1.sentbreak, aug_tok1.abbr = False, True
            return "title or short word"
        return super()._second_pass_annotation(aug_tok1, aug_tok2)

    def _shortened(self, word: PunktToken, following: PunktToken) -> bool:
        """Return whether ``word`` is short for another, as the word after it shows."""
        typ = word.type_no_period
        if TITLES.fullmatch(typ) and word.first_upper and following.first_upper:
            return following.type_no_sentperiod not in self._params.sent_starters
        written, vowelless = word.tok.rstrip("."), _VOWELLESS.fullmatch(word.tok.rstrip("."))
        if following.first_lower and (vowelless or _INITIALS.fullmatch(word.tok)):
            return True
        known = BEFORE_NUMBERS.fullmatch(typ) or _DATES.fullmatch(written)
        short = known or (vowelless and not following.period_final)
        return bool(short and _NUMBER.fullmatch(following.tok))


class _Folder:
    """A folder as ``load_punkt_params`` needs it; nltk.data's own pointers only open files below its data path."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def join(self, name: str) -> Path:
        return self._path / name


def load_parameters(folder: Path = EMBEDDED) -> PunktParameters:
    """Read the four text files of NLTK's ``punkt_tab`` format. Raises FileNotFoundError if a file is missing."""
    return load_punkt_params(_Folder(folder))


@cache
def embedded_tokenizer() -> Tokenizer:
    """Return the tokenizer of the lab, whose parameters are read only once.

    Raises
    ------
    SentencesUnavailable
        If the parameters are missing or damaged.
    """
    try:
        return Tokenizer(load_parameters(EMBEDDED))
    except (OSError, ValueError) as error:
        raise SentencesUnavailable(
            f"The sentence splitter’s parameters cannot be read ({type(error).__name__}). Restore the folder "
            f"{EMBEDDED.name} from the repository."
        ) from error
