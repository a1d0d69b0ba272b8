"""Two hundred short English sentences that ship with the lab, for studying a model on more than one text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SENTENCES = Path(__file__).parent / "embedded" / "sentences" / "english.txt"


class TextsMissing(RuntimeError):
    """Raised if this copy of the lab lacks its sentences; the message is a sentence for readers."""


@cache
def bundled_sentences() -> tuple[str, ...]:
    """Return the 200 texts, in the order of the file: questions, names, dates, numbers, negation, quotations.

    Each line is one text; the last fourteen texts have two neighbouring sentences. Comments in the file name the
    sources and their licences (CC0 or public domain). The embedded models were trained on texts from the
    same sources, perhaps on these texts, so the texts cannot tell how good a model is on new text.
    """
    try:
        lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TextsMissing(
            "The sentences that come with the lab cannot be read. Whoever runs this server should restore the folder "
            "lab/text/embedded from the repository."
        ) from error
    return tuple(line for line in lines if line and not line.startswith("#"))
