"""What a page says of characters that the tokenizer drops, and of a text in a language that the model hardly knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import streamlit as st

from lab.course.words import escaped, number_of
from lab.models.catalogue import card, ships, twin_of
from lab.text.tokenizers.unreadable import dropped, hardly_known

if TYPE_CHECKING:
    from lab.models.trace import Trace


def say_unreadable(trace: Trace, whose: str = "") -> None:
    """Say which characters of the texts are gone, and if most tokens are unknown or single letters.

    ``whose`` ("Text B: ") begins every sentence.
    """
    for icon, told in unreadable(trace):
        st.info(f"{whose}{told}", icon=icon)


def unreadable(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield what :func:`say_unreadable` says, each with its icon."""
    encoding, tokenizer = trace.encoding, trace.model.tokenizer
    gone = sum(dropped(tokenizer, text) for text in (encoding.text, encoding.pair or ""))
    if gone:
        yield (
            ":material/visibility_off:",
            f"The tokenizer drops {gone} character{'s' * (gone > 1)} of your text that cannot be seen, such as "
            "control characters and characters of no width.",
        )
    for second, text in enumerate((encoding.text, encoding.pair or "")):
        places = [i for i in range(len(encoding)) if not encoding.special[i] and encoding.in_pair[i] == bool(second)]
        tokens, offsets = [encoding.tokens[i] for i in places], [encoding.offsets[i] for i in places]
        if few := hardly_known(tokenizer, text, tokens, offsets):
            yield (
                ":material/translate:",
                f"{escaped(_model(trace))} knows few words of this language: {few} of "
                f"{number_of(len(places), 'token')} {'are' if few > 1 else 'is'} unknown or at most a single letter. "
                "The numbers therefore say little about this text.",
            )
            return


def _model(trace: Trace) -> str:
    """Return the model's name, and its language if the lab knows it: the models that ship learned English."""
    twin = twin_of(trace.model.id)
    known = card(trace.model.id if twin is None else twin[0])
    return trace.model.id if known is None or not ships(known) else f"{trace.model.id} learned from English text and"
