"""Punkt (Kiss & Strunk 2006): NLTK's sentence tokenizer with our own parameters, loaded without a download.

Importing this module imports nltk; :mod:`lab.text.sentences.split` imports this module only when a text is cut.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer, PunktToken, load_punkt_params

from lab.text.sentences.unavailable import SentencesUnavailable

EMBEDDED: Final = Path(__file__).parents[1] / "embedded" / "punkt"
# The marks at the end of the second of two words, such as "?”" in "Dr. Smith?”".
_LAST_MARKS: Final = re.compile(r"(?<=\s)(\S*\w)(?:[?!؟]\W*|\.[^\w\s]+)$")


# Titles stand before a name, and short words before a number, even where they are rare or are words of their own.
_TITLES: Final = frozenset(
    "adm amb atty br brig capt cdr cmdr col cpl cpt det dr fr ft gen gov hon insp lieut lt maj messrs mlle mme mr mrs ms "
    "mt mx pfc pres prof pvt rep rev sen sgt spc st ste supt".split()
)
_BEFORE_NUMBERS: Final = frozenset(
    "abs alg app approx apt arg art arts bk ca cap chap chaps circa cit col def div ed eq eqn eqs est ex exp ext fig "
    "figs fol issue lem lib lin max min no nos op par para paras pos prob prop q qu qs ref refs rev rte sect sec secs "
    "sect ser sess sup suppl tab tel thm tit univ ver vers vol vols".split()
)
_NUMBER: Final = re.compile(r"[-–§#$£€]?\d.*|[A-Z]\d+.*|[ivxlc]+|[IVXLC]{2,}|[B-HJ-Z]")
_VOWELLESS: Final = re.compile(r"[A-Z]?[^aeiouy\W\d_]+")
# Abbreviations that no other word is spelt like.
_ABBREVIATIONS: Final = frozenset("al cit eq eqn eqs eqns figs ibid".split())


class Language(PunktLanguageVars):
    """The rules for the shape of a sentence and a word, in training and in use.

    They are NLTK's rules with two additions. Arabic, Urdu, Devanagari, Armenian and Ethiopic marks end sentences. A
    curly quote, like a straight one, does not belong to a word: “Dr. Smith …” begins with "Dr.".
    """

    sent_end_chars = (".", "?", "!", "؟", "۔", "।", "॥", "։", "።")
    _re_word_start = r"[^\(\"\`{\[:;&\#\*@\)}\]\-,‘’“”«»]"


class Tokenizer(PunktSentenceTokenizer):
    """NLTK's tokenizer with one correction.

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
            return "title or reference"
        return super()._second_pass_annotation(aug_tok1, aug_tok2)

    def _shortened(self, word: PunktToken, following: PunktToken) -> bool:
        typ = word.type_no_period
        if typ in _TITLES and word.first_upper and following.first_upper:
            return following.type_no_sentperiod not in self._params.sent_starters
        short = typ in _BEFORE_NUMBERS or _VOWELLESS.fullmatch(word.tok.rstrip("."))
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
