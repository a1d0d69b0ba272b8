"""Punkt (Kiss & Strunk 2006): NLTK's sentence tokenizer with our own parameters, loaded without a download.

Importing this module imports nltk; :mod:`lab.text.sentences.split` imports this module only when a text is cut.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer, load_punkt_params

from lab.text.sentences.unavailable import SentencesUnavailable

EMBEDDED: Final = Path(__file__).parents[1] / "embedded" / "punkt"
# The marks at the end of the second of two words, such as "?”" in "Dr. Smith?”".
_LAST_MARKS: Final = re.compile(r"(?<=\s)(\S*\w)(?:[?!؟]\W*|\.[^\w\s]+)$")


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

    def text_contains_sentbreak(self, text: str) -> bool:
        """True if the first of two words ends a sentence; marks after the second word are ignored."""
        return super().text_contains_sentbreak(_LAST_MARKS.sub(r"\1", text))


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
