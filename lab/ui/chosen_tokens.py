"""The head, query and key on screen: the learner's choice, found again in a new sentence, or the lab's choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from lab.analysis.heads.first_look import heaviest_key
from lab.course.sentences.looks import look, look_in
from lab.models.catalogue import twin_of
from lab.ui import selection
from lab.ui.parameters import HEAD, KEY_TOKEN, LAYER, TOKEN
from lab.ui.texts import FIRST_HEAD, SEEN

if TYPE_CHECKING:
    from lab.models.trace import Trace

# Finds a layer and a head of a run, from 0.
FirstHead = Callable[["Trace"], tuple[int, int]]


def begin(trace: Trace, first: FirstHead) -> tuple[int, int]:
    """Return the head that ``first`` finds in ``trace``, and choose it while the learner has chosen no layer or head.

    The lab's choice is replaced in another model, and on a page that looks for another kind of head. The choice stays
    when the sentence changes, so that the learner sees how this head reads the new sentence. A link to the head that
    ``first`` finds does not count as a choice: the address was copied before anybody chose, or the page was reloaded.
    """
    found = first(trace)
    of = twin_of(trace.model.id)
    asked = (trace.model.id if of is None else of[0], first)
    shown = tuple(st.session_state.get(each.name) for each in (LAYER, HEAD))
    asked_before, ours = st.session_state.get(FIRST_HEAD, (None, (None, None)))
    begins = (found[0] + 1, found[1] + 1)
    if asked != asked_before and (shown == ours or (asked_before is None and shown == begins)):
        LAYER.set(begins[0])
        HEAD.set(begins[1])
        st.session_state[FIRST_HEAD] = (asked, begins)
    return found


@dataclass(frozen=True)
class _Seen:
    """The content of the last screen: texts, tokens, chosen query and key (from 1; 0: none), query shown (from 0)."""

    texts: tuple[str, str | None]
    tokens: tuple[str, ...]
    chosen: tuple[int, int]
    query: int


def with_tokens(trace: Trace, place: tuple[int, int] | None = None, first: int | None = None) -> tuple[int, int]:
    """Return query and key of ``trace``, from 0, in the head at ``place`` (layer, head, from 0) or in the lab's head.

    In another text, the nearest occurrence of the chosen word is taken. If the text lacks the word, or nobody has
    chosen yet, the query is ``first``, or the row that the lab would look at first in this head, and the key is the
    token to which the query gives most weight.
    """
    texts, before = (trace.text, trace.pair), st.session_state.get(SEEN)
    begins = look(trace) if place is None else look_in(trace, *place)
    first = begins.query if first is None else first
    if isinstance(before, _Seen) and before.tokens != trace.tokens:
        _find_again(before, trace, first, another=before.texts != texts)
    query, key = (selection.fit_place(each, len(trace), "This text") for each in (TOKEN, KEY_TOKEN))
    at = query - 1 if query else first
    st.session_state[SEEN] = _Seen(texts, trace.tokens, (query, key), at)
    return at, key - 1 if key else heaviest_key(trace, begins.layer, begins.head, at)


def _find_again(before: _Seen, trace: Trace, begins: int, *, another: bool) -> None:
    """Choose the words of ``before`` at their new places, unless the learner has chosen places in the new text."""
    for parameter, chosen in zip((TOKEN, KEY_TOKEN), before.chosen, strict=True):
        # The learner may also be looking at a query that the lab chose when the sentence changes.
        shown = chosen - 1 if chosen else before.query if another and parameter is TOKEN else None
        if parameter.chosen() == chosen and shown is not None and shown < len(before.tokens):
            found = found_again(before.tokens[shown], trace.tokens, shown)
            parameter.set(0 if found is None or (not chosen and found == begins) else found + 1)


def forget() -> None:
    """Forget the tokens seen, because a link selects the next tokens and has chosen them for its own text."""
    st.session_state.pop(SEEN, None)


def found_again(token: str, tokens: Sequence[str], place: int) -> int | None:
    """Return the place (from 0) at which ``token`` occurs nearest to ``place``; None if the token no longer occurs."""
    exact = [i for i, each in enumerate(tokens) if each == token]
    word = _word(token)
    near = exact or [i for i, each in enumerate(tokens) if word and _word(each) == word]
    return min(near, key=lambda i: (abs(i - place), i), default=None)


def _word(token: str) -> str:
    """Return a token without capitals and marks of a word's beginning or middle, so that two models write the token
    alike.

    Nothing is left of special tokens and punctuation.
    """
    word = token.removeprefix("##").lstrip("Ġ▁").lower()
    special = token.startswith(("[", "<")) and token.endswith(("]", ">"))
    return "" if special or not any(map(str.isalnum, word)) else word
