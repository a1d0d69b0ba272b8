"""The tokens of all sentences in a row, with the arcs of a head from one chosen sentence to the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lab.analysis.heads.one_row import window
from lab.analysis.sentences.token_sentences import split
from lab.charts.base.labels import direction
from lab.charts.components.sentence_control import SentenceRow
from lab.course.words import head_name
from lab.figures.sentence_arcs import DRAWN
from lab.figures.sentences import behind
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE
from lab.ui.sentence import show_row

_HINT = "Click a word to choose its sentence. Hold Shift and click to choose the other sentence."
_ONLY = "The numbers are the weights from the one sentence to the other; all other weights are left out, as 0. "


def show_tokens(view: SentencesView, head: Head | None = None) -> None:
    """Draw the row of tokens, with the arcs of ``head``.

    A click chooses the sentence that attends; a click with Shift, or a second click, chooses the other sentence.
    """
    of_token = view.sentences.of_token

    def take(query: int, key: int) -> None:
        for parameter, place in ((FROM_SENTENCE, query), (TO_SENTENCE, key)):
            if place >= 0 and (sentence := of_token[place]) is not None:
                parameter.set(sentence + 1)

    call = partial(row_of_sentences, view.trace, view.a, view.b, head)
    show_row(replace(call(), hint=_ONLY * (head is not None) + _HINT), take, call)


def row_of_sentences(traced: Trace, a: int, b: int, head: Head | None) -> SentenceRow:
    """Return the row of all tokens, with the weights of ``head`` from sentence ``a`` to sentence ``b`` (from 0).

    Of each sentence one token is chosen: the ends of the strongest link, or without a head the first tokens.
    """
    found, every = split(traced), None
    query, key = found.places(a)[0], found.places(b)[0]
    if head is not None:
        cells, every = behind(traced, found, a, b, head, left_out=False), np.zeros((len(traced),) * 2, np.float32)
        every[np.ix_(cells.queries, cells.keys)] = cells.weights
        query, key = (int(place) for place in np.unravel_index(int(every.argmax()), every.shape))
    seen = window(query, len(traced), DRAWN)
    return SentenceRow(
        labels=traced.labels[seen],
        special=traced.encoding.special[seen],
        count=len(traced),
        chosen=query,
        first=seen.start,
        other=key,
        weights=None if every is None else every[seen, seen],
        place=f"sentence {a + 1} to sentence {b + 1}{'' if head is None else f', {head_name(head)}'}",
        across=head is not None,
        direction=direction(traced.text),
    )
