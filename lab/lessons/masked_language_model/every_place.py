"""The screen with the likeliest words of every place, nothing hidden; a click writes the softmax of one out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.predictions import candidates, likeliest
from lab.course.words import named, percent, quoted
from lab.figures.sentence import sentence
from lab.lessons.masked_language_model import figures, meanings
from lab.lessons.masked_language_model.softmax import show_sum, written_out
from lab.models.trace import Trace
from lab.ui.drawing import code, draw_cells
from lab.ui.frame.script import meaning
from lab.ui.sentence import show_row

_ROWS = 24  # of a figure that is shown whole; a longer one scrolls in a box
_BOX = 860  # pixels
_GRID, _CELL, _CLICKED = "every-place", "_every_cell", "_every_clicked"


def show_every_place(trace: Trace) -> Trace:
    """A row for each token of the text as it stands: its five likeliest words, or what is expected after it."""
    causal = trace.model.config.causal
    if causal:
        st.markdown("This model reads from left to right: each row shows what it expects **after** its token.")
    place, rank = _cell(trace)
    row = replace(sentence(trace, place), hint="Click a word to look at its place in the figure.")
    show_row(row, lambda place, _: st.session_state.update({_CELL: (place, rank)}))
    rows = figures.places_drawn(trace, place)
    with st.container(height=_BOX if rows.stop - rows.start > _ROWS else "content", border=False):
        # A figure of other rows is another one: a browser keeps the click that moved them.
        clicked = draw_cells(partial(figures.every_place, trace, (place, rank)), f"{_GRID}-{rows.start}")
    if clicked is not None and (clicked, rows.start) != st.session_state.get(_CLICKED):
        st.session_state[_CLICKED] = clicked, rows.start
        st.session_state[_CELL] = clicked[0] + rows.start, clicked[1]
        st.rerun()
    if rows.stop - rows.start < len(trace):
        st.caption(f"The map shows tokens {rows.start + 1} to {rows.stop} of {len(trace)}, around the chosen one.")
    found = likeliest(trace, figures.ranks(trace))
    meaning(meanings.copied(trace, found.ids[:, 0].tolist()))
    if not causal and any(trace.encoding.special):
        st.caption("In training only words are hidden, never a special token. So read nothing into the rows of those.")
    _write_out(trace, place, rank)
    code(likeliest, predictions.Prediction)
    return trace


def _cell(trace: Trace) -> tuple[int, int]:
    """The place and the rank looked at, from 0, brought inside the text; at first where the model is least sure."""
    place, rank = st.session_state.get(_CELL, (-1, 0))
    if 0 <= place < len(trace) and rank < figures.ranks(trace):
        return place, rank
    surest = likeliest(trace, figures.ranks(trace)).probabilities[:, 0]
    words = [i for i, special in enumerate(trace.encoding.special) if not special] or list(range(len(trace)))
    return min(words, key=lambda i: float(surest[i])), 0


def _write_out(trace: Trace, place: int, rank: int) -> None:
    """One word's probability: its logit, the exponential, the sum, the share."""
    found = predictions.prediction_at(trace, place, None)
    shown = candidates(found, figures.ranks(trace), trace.model.tokenizer)
    st.header("From logits to a share")
    words = [f"{each.rank} · {each.word}" for each in shown]

    def take() -> None:
        st.session_state[_CELL] = place, st.session_state["_every_rank"]

    st.session_state["_every_rank"] = rank
    st.selectbox("Word", range(len(words)), key="_every_rank", on_change=take, format_func=words.__getitem__)
    chosen = shown[rank]
    where = "after" if trace.model.config.causal else "at"
    st.markdown(
        f"{quoted(chosen.word)} {where} {named(trace, place)} has **{percent(chosen.probability)}**. Click another "
        "cell of the figure to see how its share comes about."
    )
    st.latex(written_out(chosen, found))
    show_sum(shown, found)
