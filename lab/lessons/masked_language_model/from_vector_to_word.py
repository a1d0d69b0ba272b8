"""From vector to word: the last vector becomes a logit for every word, and softmax makes probabilities of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.predictions import Candidate, Prediction, candidates
from lab.charts.components.softmax import Softmax
from lab.course.words import in_tex, quoted
from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.view import show_numbers, tells_story
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui.components import mount
from lab.ui.drawing import code
from lab.ui.parameters import TEMPERATURE, TEXT
from lab.ui.quiz.step_questions import predict
from lab.ui.reports import WordChosen, heard
from lab.ui.screen import caption, meaning, say, try_this
from lab.ui.shared.prediction import PredictionView

_ROWS, _WIDTH = 5, 360  # words in the table of logits, and its width in pixels
_HEAD = (
    "After the last layer, one vector is left at this place: {numbers} numbers. The **vocabulary head** (it is not an "
    "attention head) {prepares}compares it with the vector of every word: the **dot product**{bias} is the word’s "
    "**logit**."
)
_PREPARES = "sends it through one more learned matrix, with a function and a LayerNorm, and "
_SCALES = "brings it to one scale with a last LayerNorm, and "
_BIAS = ", plus a learned **bias** of the word,"
LARGEST = "Of {vocabulary:,} tokens, {first} has the largest logit: **{logit:.3f}**."
SUM = "It is the dot product with its row of the table (lesson 2), {product:.3f}, plus its bias, {bias:.3f}."
_SOFTMAX = (
    "**Softmax** makes shares of the logits: e to the power of each logit, divided by the sum of the powers of all "
    "words."
)
RATIO = "{first} is **{times}** times as probable as {second}. This is e to the power of the gap between both logits."
MANY = "And yet *paris* has only {p:.2f}: tens of thousands of words share the rest."
BET = "A probability says what the model would bet, not what is true. For Italy, it bets on *milan*."
_ITALY = "The capital of Italy is [MASK]."
_PLAYED, _CANDIDATE = "_softmax", "_candidate"


def show(view: PredictionView) -> Trace:
    """Show how the last vector becomes logits and probabilities."""
    prediction = view.prediction.at(TEMPERATURE.chosen() if view.causal else 1.0)
    head = view.model.vocabulary_head
    prepares = _PREPARES if head.w is not None else _SCALES * view.model.config.pre_norm
    bias = _BIAS * (head.bias is not None)
    say(_HEAD.format(numbers=view.model.config.width, prepares=prepares, bias=bias))
    _show_logits(view)
    say(_SOFTMAX)
    if predict(LESSON, others_fall()):
        _show_probabilities(view, prediction)
    code(forward.vocabulary_logits, Prediction)
    return view.trace


def _show_logits(view: PredictionView) -> None:
    """Show the logits of the best words, and how the largest one is made."""
    best = view.best(_ROWS)
    logits = {"word": [each.word for each in best], "logit": [each.logit for each in best]}
    with st.container(width=_WIDTH):
        show_numbers(pd.DataFrame(logits), logit="%.3f")
    numbers = {"vocabulary": view.model.config.vocabulary, "logit": best[0].logit}
    told = LARGEST.format(first=quoted(best[0].word), **numbers)
    if tells_story(view):
        steps = predictions.head_steps(view.trace, view.place)
        (part,) = predictions.logit_parts(view.trace, steps, [best[0].token_id])
        told += f" {SUM.format(product=part.product, bias=part.bias)}"
    st.caption(told)


def _show_probabilities(view: PredictionView, prediction: Prediction) -> None:
    """Draw the bars with the slider; the word whose logit moves is first the word of the question."""
    shown = candidates(prediction, 10, view.model.tokenizer)
    first, second = shown[:2]
    chosen = show_softmax(shown, prediction, second.token_id)
    meaning(ratio(prediction, view) + (f" {MANY.format(p=first.probability)}" if tells_story(view) else ""))
    if tells_story(view):
        caption(BET)
        try_this("ask for another capital.", "The capital of Italy is ▢", {TEXT: _ITALY})
    with st.expander("One probability, written out", icon=":material/function:", on_change="rerun", key="_sum") as sums:
        if sums.open:
            st.latex(written_out(chosen, prediction))
            st.caption("The lab subtracts the largest logit. This keeps the numbers small and changes no probability.")


@asks(
    basis=derivable(LESSON, "from-vector-to-word", "softmax divides by the sum over all words"),
    hint="All probabilities add up to 1.",
)
def others_fall() -> Question | None:
    """Ask what happens to one word when the logit of another grows."""
    return Question(
        "others-fall",
        "In *The capital of France is ▢.*, *paris* has the largest logit. Raise the logit of *strasbourg* by 2, and "
        "leave all others as they are. What happens to the probability of *paris*?",
        (
            Option(
                "It stays as it was",
                "The logit of *paris* stays, and so does its power of e. But this power is divided by the sum of all "
                "powers, which has grown.",
            ),
            Option(
                "It falls",
                "The sum that divides its power of e has grown. What one word gains, all others lose.",
                correct=True,
            ),
            Option(
                "It rises with that of *strasbourg*",
                "Both are cities of France, but softmax knows nothing of this: it only divides by one sum.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "from-vector-to-word", "softmax depends only on the gaps between logits"),
    hint="What happens to every power of e, and to their sum?",
)
def shifted() -> Question | None:
    """Ask what happens if one number is added to all logits."""
    return Question(
        "shifted",
        "Add 1 to the logit of every word. What happens to the probability of *paris*?",
        (
            Option(
                "It rises, because its own logit has grown",
                "Its power of e is e times as large. But so is the sum by which it is divided.",
            ),
            Option(
                "It falls, because the sum of all powers has grown",
                "The sum is e times as large. But so is the power of *paris* that it divides.",
            ),
            Option(
                "Nothing",
                "Its power and the sum are both e times as large. Only the gaps between logits count.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def ratio(prediction: Prediction, view: PredictionView) -> str:
    """Say how many times as probable the best word is as the second one."""
    first, second = candidates(prediction, 2, view.model.tokenizer)
    gap = float(prediction.scaled[first.token_id] - prediction.scaled[second.token_id])
    times = math.exp(min(gap, 700))
    return RATIO.format(
        first=quoted(first.word), second=quoted(second.word), times=f"{times:.1f}" if times < 100 else f"{times:.2g}"
    )


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
