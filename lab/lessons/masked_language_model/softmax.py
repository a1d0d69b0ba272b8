"""A softmax to move and written out: bars whose logits can be moved, and one word's probability as a formula."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.predictions import Candidate, Prediction
from lab.charts.components.softmax import Softmax
from lab.course.words import in_tex
from lab.ui.components import mount
from lab.ui.reports import WordChosen, heard

_PLAYED, _CANDIDATE = "_softmax", "_candidate"


def show_softmax(shown: Sequence[Candidate], prediction: Prediction, start: int) -> Candidate:
    """Draw bars whose logits can be moved, one at a time; return the word that is chosen, initially the id ``start``.

    Moving a bar does not rerun the page: only the figure changes.
    """
    ids = [each.token_id for each in shown]
    wanted = next((each for each in (st.session_state.get(_CANDIDATE), start) if each in ids), ids[0])
    chosen = ids.index(wanted)

    def take() -> None:
        report = heard(st.session_state[_PLAYED], WordChosen)
        if report is not None and 0 <= report.candidate[1] < len(ids):
            st.session_state[_CANDIDATE] = ids[report.candidate[1]]

    figure = Softmax(
        [each.word for each in shown],
        prediction.scaled[ids],
        len(prediction.logits) - len(ids),
        _log_of_rest(prediction, ids),
        chosen,
        prediction.temperature,
    )
    mount("softmax", figure.payload(), _PLAYED, states=["candidate"], on_change=take)
    return shown[chosen]


def _log_of_rest(prediction: Prediction, ids: Sequence[int]) -> float:
    """The logarithm of the sum of e to the scaled logits, over all words except ``ids``."""
    rest = predictions.rest(prediction, ids)
    return float("-inf") if rest <= 0 else math.log(rest) + prediction.largest


def written_out(chosen: Candidate, prediction: Prediction) -> str:
    """Return the softmax of one candidate with its numbers, in LaTeX."""
    over = "" if prediction.temperature == 1 else f" / {prediction.temperature:g}"
    logit, largest = chosen.logit, prediction.largest * prediction.temperature
    return (
        rf"\begin{{aligned}} P &= \frac{{e^{{(z - z_{{\max}}){'/T' if over else ''}}}}}"
        rf"{{\sum_{{v}} e^{{(z_v - z_{{\max}}){'/T' if over else ''}}}}} \\[8pt]"
        rf"&= \frac{{e^{{({logit:.3f} - {largest:.3f}){over}}}}}{{{in_tex(prediction.total)}}} \\[8pt]"
        rf"&= \frac{{{in_tex(chosen.exponential)}}}{{{in_tex(prediction.total)}}} = {in_tex(chosen.probability, 4)}"
        r"\end{aligned}"
    )
