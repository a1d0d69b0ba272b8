"""The tokens of all sentences in a row, with arcs from the chosen sentence to the other chosen sentence."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.attention import window
from lab.charts.base.labels import direction
from lab.charts.components.sentence import SentenceRow
from lab.figures.sentence import DRAWN
from lab.figures.sentences import behind
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.models.interventions import Head
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE
from lab.ui.sentence import show_row

_HINT = "Click a word to choose its sentence. Hold Shift and click to choose the other sentence."


def show_tokens(view: SentencesView, heads: str | Head | None = None) -> None:
    """Draw the row of tokens.

    A click chooses the sentence that attends; a click with Shift, or a second click, chooses the other sentence. For
    ``heads``, whose arcs are drawn, see :func:`row_of_sentences`.
    """
    of_token = view.sentences.of_token

    def take(query: int, key: int) -> None:
        for parameter, place in ((FROM_SENTENCE, query), (TO_SENTENCE, key)):
            if place >= 0 and (sentence := of_token[place]) is not None:
                parameter.set(sentence + 1)

    show_row(row_of_sentences(view, heads), take)


def row_of_sentences(view: SentencesView, heads: str | Head | None) -> SentenceRow:
    """Return the row. The arcs are the weights behind the chosen cell of the map, in ``heads``; None draws no arcs."""
    trace, first = view.trace, view.sentences.places(view.a)[0]
    seen = window(first, len(trace), DRAWN)
    weights = None
    if heads is not None:
        cells = behind(trace, view.sentences, view.a, view.b, heads, view.left_out)
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
        place=f"sentence {view.a + 1} to sentence {view.b + 1}, {_whose(heads)}",
        across=heads is not None,
        hint=_HINT,
        direction=direction(trace.text),
    )


def _whose(heads: str | Head | None) -> str:
    return f"layer {heads[0] + 1}, head {heads[1] + 1}" if isinstance(heads, tuple) else "mean over all heads"
