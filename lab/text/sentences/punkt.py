"""Punkt (Kiss & Strunk 2006): NLTK's sentence tokenizer with parameters of our own, loaded without a download.

Importing this module imports nltk; :mod:`lab.text.sentences.split` does so only when a text is cut.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer, load_punkt_params

from lab.text.sentences.unavailable import SentencesUnavailable

EMBEDDED: Final = Path(__file__).parents[1] / "embedded" / "punkt"
# What ends the second of two words: "?”" of "Dr. Smith?”".
_LAST_MARKS: Final = re.compile(r"(?<=\s)(\S*\w)(?:[?!؟]\W*|\.[^\w\s]+)$")


class Language(PunktLanguageVars):
    """What a sentence and a word look like, for training and for use.

    NLTK's rules, and besides: Arabic, Urdu, Devanagari, Armenian and Ethiopic marks end sentences; a
    curly quote belongs to a word no more than a straight one does: “Dr. Smith …” begins with "Dr.".
    """

    sent_end_chars = (".", "?", "!", "؟", "۔", "।", "॥", "։", "።")
    _re_word_start = r"[^\(\"\`{\[:;&\#\*@\)}\]\-,‘’“”«»]"


class Tokenizer(PunktSentenceTokenizer):
    """NLTK's tokenizer, mended in one place.

    Whether "Dr." ends a sentence in “Dr. Smith?” is decided on "Dr. Smith?”", the two words around
    the space. NLTK takes the question mark there for the answer: any mark that is not the last token.
    """

    def __init__(self, parameters: PunktParameters) -> None:
        super().__init__(parameters, lang_vars=Language())

    def text_contains_sentbreak(self, text: str) -> bool:
        """Whether the first of two words ends a sentence; marks after the second are not looked at."""
        return super().text_contains_sentbreak(_LAST_MARKS.sub(r"\1", text))


class _Folder:
    """What ``load_punkt_params`` asks of a folder; nltk.data's own pointers open files below its data path only."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def join(self, name: str) -> Path:
        return self._path / name


def load_parameters(folder: Path = EMBEDDED) -> PunktParameters:
    """Read the four text files of NLTK's ``punkt_tab`` format. Raises FileNotFoundError when one is missing."""
    return load_punkt_params(_Folder(folder))


@cache
def embedded_tokenizer() -> Tokenizer:
    """The tokenizer of the lab, its parameters read once.

    Raises
    ------
    SentencesUnavailable
        If they are missing or damaged.
    """
    try:
        return Tokenizer(load_parameters(EMBEDDED))
    except (OSError, ValueError) as error:
        raise SentencesUnavailable(
            f"The sentence splitter’s parameters cannot be read ({type(error).__name__}). Restore the folder "
            f"{EMBEDDED.name} from the repository."
        ) from error
