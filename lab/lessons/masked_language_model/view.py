"""The view of a step: a place of the text that the model is asked about, its best words, or the text as it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.in_blank import with_blank
from lab.analysis.words.masking import asked_next
from lab.analysis.words.predictions import Prediction, candidates, next_prediction
from lab.course.pages import CHECK
from lab.course.sentences.looks import is_story
from lab.course.words import quoted, share
from lab.figures.sentence_arcs import sentence
from lab.lessons.masked_language_model import word_figures
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui import runs, sidebar
from lab.ui.drawing import draw
from lab.ui.page import LessonPage
from lab.ui.parameters import TEMPERATURE, TOP
from lab.ui.play import LessonRun
from lab.ui.screen import meaning, show_table
from lab.ui.sentence import show_row
from lab.ui.shared.prediction import PredictionView
from lab.ui.shared.prediction import look as look_at_place
from lab.ui.toys.toy_runs import open_learning

# Steps that read the text as it is; the other steps ask about one place in it.
WHOLE = ("likelihood", "next-sentence")
WRITES = "writing-on"
# The model that writes if the learner chose a model that only fills blanks.
WRITER = "lab-gpt2"
_READ = f"{WRITER} reads this text up to the orange token, and continues it from there."


def look(page: LessonPage, trace: Trace, step: str) -> PredictionView | LessonRun | Trace | None:
    """Return the view of a step: the text as it is, or a place of it."""
    if step in WHOLE:
        return trace
    if step == CHECK:
        return LessonRun(page, trace)
    return look_at_writer(page, trace) if step == WRITES else look_at_place(page, trace)


def look_at_writer(page: LessonPage, trace: Trace) -> PredictionView | None:
    """Return the view of the text up to the token after which a model writes on, and draw this part of the text.

    If the page's model cannot write, the lab's own GPT-2 reads the text: up to its blank if the learner typed one.
    """
    if trace.model.config.causal:
        return look_at_place(page, trace)
    run = runs.run(WRITER, with_blank(runs.model(WRITER), trace.text) or trace.text, "", Interventions())
    place = asked_next(run.encoding)
    show_row(replace(sentence(run, place), read=place + 1, hint=_READ), lambda query, key: None)
    return PredictionView(page, run, run, (), (), place, next_prediction(run, place))


def tells_story(view: PredictionView) -> bool:
    """Return whether the view is the blank of the course's sentence, about which the findings are written."""
    return is_story(view.trace) and not view.chosen


def choose_temperature() -> float:
    """Draw the slider of the temperature."""
    return TEMPERATURE.choose("Temperature", 0.1)


def show_numbers(table: pd.DataFrame, **formats: str) -> None:
    """Draw a table whose numbers have two decimals, unless ``formats`` names another format for a column."""
    show_table(table, formats={name: formats.get(name, "%.2f") for name in table.select_dtypes("number").columns})


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
