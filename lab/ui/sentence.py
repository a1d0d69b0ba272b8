"""The sentence at the top of a step, in which the tokens of the step are marked, and a click chooses a token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from lab.charts.components.sentence_control import SentenceRow
from lab.figures.attention import weights_from
from lab.figures.sentence_arcs import Looking, sentence
from lab.models.trace import Trace
from lab.ui.components import mount
from lab.ui.drawing import saw, show_numbers
from lab.ui.parameters import KEY_TOKEN, TOKEN
from lab.ui.reports import TokenChosen, heard

_NAME = "_sentence"
# Takes the chosen query and key, from 0; the key is -1 if only a query was chosen.
Take = Callable[[int, int], None]


def _choose(query: int, key: int) -> None:
    TOKEN.set(query + 1)
    KEY_TOKEN.set(key + 1)


def show_sentence(trace: Trace, query: int, key: int | None = None, *, of: Looking | None = None) -> None:
    """Draw the row of tokens.

    A click on a token chooses the query; a click with Shift, or a second click, chooses the key. All places count from
    0; see :func:`lab.figures.sentence_arcs.sentence`.
    """
    if of is not None and of[1] is not None:
        saw(partial(weights_from, trace, of[0], of[1], query))
    call = partial(sentence, trace, query, key, of=of)
    show_row(call(), call=call)


def show_asked(trace: Trace, place: int) -> None:
    """Draw the row of tokens for a step that is about one ``place`` (from 0), whichever token somebody clicks."""
    show_row(replace(sentence(trace, place), hint="This step is about the marked place."))


def show_row(row: SentenceRow, take: Take = _choose, call: partial[SentenceRow] | None = None) -> None:
    """Draw a row of tokens; ``take`` receives each choice that the learner makes in the row.

    ``call`` makes the row's numbers again. A row with arcs can be taken along.
    """
    with st.container(key=_place(row)):
        hear = partial(_hear, row.count, take)
        mount("sentence", row.payload(), _NAME, states=["choice"], on_change=hear)
        if row.weights is not None:
            show_numbers(row.table, "sentence", call, row, of_step=False)


def _place(row: SentenceRow) -> str:
    """Return the row's name in the style sheet, which keeps the row in sight; the name depends on the height above the
    tokens.

    A row with grammar below it does not stay in sight, because it would cover too much of the page.
    """
    if row.relations:
        return "row_with_relations"
    return "row_of_tokens" if row.weights is None else "row_of_tokens_arcs"


def _hear(count: int, take: Take) -> None:
    """Read a browser's report, before the page is drawn again. Anybody may have written the report."""
    report = heard(st.session_state[_NAME], TokenChosen)
    if report is not None:
        _, query, key = report.choice
        if 0 <= query < count and -1 <= key < count:
            take(query, key)
