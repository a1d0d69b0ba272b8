"""The tokens of all sentences in a row, with arcs from the chosen sentence to the other one."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.attention import window
from lab.charts.base.labels import direction
from lab.charts.components.sentence import SentenceRow
from lab.figures.sentence import DRAWN
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE
from lab.ui.sentence import show_row


def draw_sentence(view: SentencesView, arcs: bool) -> None:
    """The row of tokens. A click chooses the sentence that attends, Shift or a second click the other one."""
    of_token = view.sentences.of_token

    def take(query: int, key: int) -> None:
        for parameter, place in ((FROM_SENTENCE, query), (TO_SENTENCE, key)):
            if place >= 0 and (sentence := of_token[place]) is not None:
                parameter.set(sentence + 1)

    show_row(row_of_sentences(view, arcs), take)


def row_of_sentences(view: SentencesView, arcs: bool) -> SentenceRow:
    """The row: the arcs are the weights behind the chosen cell of the matrix, means over all heads."""
    trace, first = view.trace, view.sentences.places(view.a)[0]
    seen = window(first, len(trace), DRAWN)
    weights = None
    if arcs:
        cells = view.cells(view.a, view.b)
        every = np.zeros((len(trace),) * 2, np.float32)
        every[np.ix_(cells.queries, cells.keys)] = cells.weights
        weights = every[seen, seen]
    return SentenceRow(
        labels=trace.labels[seen],
        special=trace.encoding.special[seen],
        count=len(trace),
        chosen=first,
        first=seen.start,
        other=view.sentences.places(view.b)[0],
        weights=weights,
        place=f"sentence {view.a + 1} to sentence {view.b + 1}, mean over all heads",
        across=arcs,
        direction=direction(trace.text),
    )
