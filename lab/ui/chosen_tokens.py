"""The query and the key that are chosen, found again when the sentence or the model becomes another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.parameters import KEY_TOKEN, TOKEN
from lab.ui.selection import Selection

if TYPE_CHECKING:
    from lab.models.trace import Trace

_SEEN = "_tokens_seen"
_FIELDS = (TOKEN.name, KEY_TOKEN.name)


def with_tokens(chosen: Selection, trace: Trace) -> tuple[int, int]:
    """The chosen query and key of ``trace``, from 0.

    In another text the same word is looked for, the nearest one if there are several; without it, the place stays
    where it is, or goes to the nearest word.
    """
    before = st.session_state.get(_SEEN)
    places = {name: int(getattr(chosen, name)) for name in _FIELDS}
    if before is not None and before[0] != trace.tokens:
        for name in _FIELDS:
            # A number that is another one than before was chosen since, for the new text.
            if places[name] == before[1][name]:
                places[name] = found_again(before[0][places[name] - 1], trace.tokens, places[name] - 1) + 1
    places = {name: min(max(place, 1), len(trace)) for name, place in places.items()}
    if before is not None and before[0] != trace.tokens:
        st.session_state.update(places)
    st.session_state[_SEEN] = (trace.tokens, places)
    return places[TOKEN.name] - 1, places[KEY_TOKEN.name] - 1


def forget() -> None:
    """What is selected next was chosen for its own text, by a link."""
    st.session_state.pop(_SEEN, None)


def found_again(token: str, tokens: Sequence[str], place: int) -> int:
    """The place (from 0) of ``token`` that is nearest to ``place``; else of the nearest word at all."""
    words = [_word(each) for each in tokens]
    exact = [i for i, each in enumerate(tokens) if each == token]
    alike = [i for i, each in enumerate(words) if each and each == _word(token)]
    near = exact or alike or [i for i, each in enumerate(words) if each] or [min(place, len(tokens) - 1)]
    return min(near, key=lambda i: (abs(i - place), i))


def _word(token: str) -> str:
    """A token as two models would both write it: no mark of a word's beginning or middle, no capitals.

    Nothing is left of special tokens and punctuation.
    """
    word = token.removeprefix("##").lstrip("Ġ▁").lower()
    special = token.startswith(("[", "<")) and token.endswith(("]", ">"))
    return "" if special or not any(map(str.isalnum, word)) else word
