"""The most probable words at a place as bars."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.predictions import Prediction, candidates
from lab.course.words import quoted, share
from lab.lessons.masked_language_model import word_figures
from lab.lessons.masked_language_model.view import tells_story
from lab.ui import sidebar
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning
from lab.ui.parameters import TOP
from lab.ui.shared.prediction import PredictionView
from lab.ui.toys.toy_runs import open_learning

READING = "This model finds {first} most probable: **{p}**. Next comes {second}, with {q}."
WRITTEN = "No other word gets even a tenth of what *paris* gets."
TRUTH = "{lead} {word}. Its probability is {p}, and it is number {rank:,} of {vocabulary:,}."


def show_best(view: PredictionView, prediction: Prediction, lead: str) -> None:
    """Draw the most probable words as bars, the true word in full colour; say their numbers."""
    shown = (prediction.place, prediction.truth, TOP.chosen(), prediction.temperature)
    draw(partial(word_figures.best_words, view.trace, *shown), "candidates")
    first, second = candidates(prediction, 2, view.model.tokenizer)
    told = READING.format(
        first=quoted(first.word), p=share(first.probability), second=quoted(second.word), q=share(second.probability)
    )
    meaning(told + (f" {WRITTEN}" if tells_story(view) else ""))
    with sidebar.controls():
        TOP.choose(f"{view.noun.capitalize()} in the figure")
    if view.model.id.startswith("toy-untrained") and st.button(
        "Train the toy", icon=":material/model_training:", key="_train_here"
    ):
        open_learning()
    truth = predictions.true_word(prediction, view.model.tokenizer)
    if truth is not None and truth.token_id != view.model.unknown:
        numbers = {"rank": truth.rank, "vocabulary": view.model.config.vocabulary}
        st.caption(TRUTH.format(lead=lead, word=quoted(truth.word), p=share(truth.probability), **numbers))
