"""The controls for the hidden words and for the place asked about, and the values of both in the URL.

In the URL, they are ``masked=3.7`` ("none" if nothing is hidden) and ``place=7``, with tokens counted from 1. The
meaning of these values depends on the text, so the module reads, mends and writes them back on every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from tokenizers import decoders

from lab.analysis.words.masking import maskable, place_to_start, typed_masks
from lab.analysis.words.predictions import word_of
from lab.charts.base.axes import visible
from lab.charts.components.sentence_control import SentenceRow
from lab.course.words import escaped, quoted
from lab.figures.sentence_arcs import Looking, sentence
from lab.models.encoding import Encoding
from lab.models.trace import Trace
from lab.ui import selection
from lab.ui.parameters import MASKED, PLACE
from lab.ui.parameters_of_a_run import TOKENS_SEEN
from lab.ui.sentence import show_row

NONE = "none"
_AROUND = 12
_HIDE = (
    "Click a word to hide it: you see it in a dashed frame, the model does not. Click it again to show it to the model."
)
_READ = "Click a word to ask what comes after it."


def label(trace: Trace, place: int) -> str:
    """Return a token with its number from 1, which tells equal tokens apart. Plain text, not Markdown."""
    return f"{place + 1} · \u2068{visible(word_of(trace.model.tokenizer, trace.token_ids[place]))}\u2069"


def chosen_places(encoding: Encoding, mask_id: int) -> tuple[int, ...]:
    """The places (from 0) that the learner hides, moved to this text; the lab's own choice if the learner has not
    chosen.

    A word stays hidden wherever it is in the new text, so an edited sentence keeps its hidden words; a sentence without
    these words starts afresh.
    """
    asked, before = MASKED.chosen(), st.session_state.get(TOKENS_SEEN)
    found = _chosen(encoding, mask_id, asked, before)
    st.session_state[TOKENS_SEEN] = encoding.tokens
    return found


def _chosen(encoding: Encoding, mask_id: int, asked: str, before: Sequence[str] | None) -> tuple[int, ...]:
    place = PLACE.chosen()
    if place > 0 and (now := _found(before, encoding.tokens, place - 1)) is not None:
        PLACE.set(now + 1)
    if asked == NONE:
        return ()
    numbers = [selection.whole_number(part, 1, 10_000) for part in asked.split(".") if part]
    wanted = sorted({number - 1 for number in numbers if number is not None})
    found = {_found(before, encoding.tokens, place) for place in wanted}
    kept = tuple(place for place in maskable(encoding, mask_id) if place in found)
    if before is None and (None in numbers or set(wanted) - {*kept, *typed_masks(encoding, mask_id)}):
        selection.note(
            f"The link hides tokens {quoted(asked[:40])}; some of these tokens are not in this text, or are special."
        )
    if kept:
        MASKED.set(written(kept))
        return kept
    MASKED.set("")
    return place_to_start(encoding, mask_id)


def _found(before: Sequence[str] | None, tokens: Sequence[str], place: int) -> int | None:
    """Find in ``tokens`` the token that was at ``place`` ``before``, at the nearest occurrence; None if it is gone."""
    if before is None:
        return place
    same = [i for i, token in enumerate(tokens) if place < len(before) and token == before[place]]
    return min(same, key=lambda i: (abs(i - place), i), default=None)


def written(places: Sequence[int]) -> str:
    """Write places (from 0) in the form that they have in the URL."""
    return ".".join(str(place + 1) for place in places) or NONE


@dataclass(frozen=True)
class Blanks:
    """The blanks of a text: the places that the learner chose, that are hidden, that can be hidden, and the place asked
    about.

    Places count from 0.
    """

    chosen: tuple[int, ...]
    hidden: tuple[int, ...]
    asked: int | None
    maskable: Sequence[int]


def show_blanks(trace: Trace, blanks: Blanks, read: Trace, of: Looking | None = None) -> None:
    """Draw the sentence with its blanks. A click hides a word and asks about it; another click shows the word again.

    ``of`` draws the arcs of a head in the run that is ``read``, in which the words are hidden.
    """
    place = blanks.asked if blanks.asked is not None else min(blanks.maskable, default=0)
    call = partial(with_blanks, trace, read, place, blanks.hidden, of)
    row = replace(call(), hint=_HIDE if blanks.maskable else "")
    show_row(row, lambda place, _: _click(blanks, place), call)


def with_blanks(trace: Trace, read: Trace, place: int, hidden: tuple[int, ...], of: Looking | None) -> SentenceRow:
    """Return a sentence with ``hidden`` words, and the arcs of a head from ``place`` in the run that is ``read``.

    Places count from 0.
    """
    arcs = sentence(read, place, of=of)
    return replace(sentence(trace, place), weights=arcs.weights, place=arcs.place, hidden=hidden)


def _click(blanks: Blanks, place: int) -> None:
    """Hide the clicked word and ask about it; if the question is about this word already, show the word again."""
    if place == blanks.asked and place in blanks.chosen:
        MASKED.set(written([each for each in blanks.chosen if each != place]))
        PLACE.set(0)
        return
    if place in blanks.maskable and place not in blanks.hidden:
        MASKED.set(written(sorted({*blanks.chosen, place})))
    elif place not in blanks.hidden:
        return
    PLACE.set(place + 1)


def show_read(trace: Trace, place: int, of: Looking | None = None) -> None:
    """Draw the sentence up to ``place``: a model reads only this part when it predicts the next token.

    ``of`` draws the arcs of a head.
    """
    call = partial(sentence, trace, place, of=of)
    show_row(replace(call(), read=place + 1, hint=_READ), lambda place, _: PLACE.set(place + 1), call)


def asked_place(places: Sequence[int], default: int) -> int:
    """Return the place (from 0) that is asked about, which is one of ``places``."""
    asked = PLACE.chosen() - 1
    if asked in places:
        return asked
    if asked >= 0:
        selection.note(f"You cannot ask about token {asked + 1} of this text, so you see token {default + 1}.")
    PLACE.set(0)
    return default


def reading(trace: Trace, asked: int, until: int | None = None) -> str:
    """The text that the model reads around the place asked about, as Markdown; up to token ``until`` if given."""
    last = len(trace) if until is None else until + 1
    spaced = isinstance(trace.model.tokenizer.decoder, decoders.ByteLevel)
    first, stop = max(0, asked - _AROUND), min(last, asked + _AROUND + 1)
    parts = ["…"] if first else []
    for place in range(first, stop):
        word = word_of(trace.model.tokenizer, trace.token_ids[place])
        shown = f"\u2068{escaped(visible(word.removeprefix('␣') or word))}\u2069"
        parts.append(f":blue-background[**{shown}**]" if place == asked else shown)
        # Byte-level tokens contain the spaces between words.
        parts[-1] = f" {parts[-1]}" if word.startswith("␣") or not spaced else parts[-1]
    return "".join(parts) + (" …" if stop < last else "")
