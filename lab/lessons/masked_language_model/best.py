"""The most probable words as bars, and how sure the model is of the first one."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.predictions import Candidate, Prediction, candidates
from lab.course.words import VISIBLE, quoted, share
from lab.lessons.masked_language_model import figures
from lab.models.catalogue import twin_of
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning
from lab.ui.parameters import TOP
from lab.ui.shared.prediction import PredictionView
from lab.ui.toys.toy_runs import open_learning

# A word with more than the first has more than all others together; a best word below the second is one of many.
HALF, FEW = 0.5, 0.1
# Up to this number of words, a sentence says “a few”.
SOME = 10


def two_best(model: LoadedModel, prediction: Prediction) -> tuple[Candidate, Candidate]:
    first, second = candidates(prediction, 2, model.tokenizer)
    return first, second


def random_weights(model: LoadedModel) -> bool:
    """Return whether a model is untrained, so that its words are chance."""
    return twin_of(model.id) is not None or model.id.startswith("toy-untrained")


def answered(trace: Trace, prediction: Prediction) -> str:
    """Say how sure the model is of its best word."""
    if random_weights(trace.model):
        told = "The weights are random, so these bars mean nothing."
        return told if twin_of(trace.model.id) is not None else f"{told} Train the toy, then look again."
    first, second = two_best(trace.model, prediction)
    if first.probability - second.probability < VISIBLE:
        return (
            f"The model prefers no single word: {quoted(first.word)} has the probability "
            f"**{share(first.probability)}**, and {quoted(second.word)} has {share(second.probability)}."
        )
    return (
        f"{quoted(first.word)} fits best, with the probability **{share(first.probability)}**. Next comes "
        f"{quoted(second.word)} with {share(second.probability)}. {_how_sure(prediction)}"
    )


def _how_sure(prediction: Prediction) -> str:
    """Say how many words together reach a probability of one half, that is, how much the model leaves open."""
    best = np.sort(prediction.probabilities)[::-1]
    if best[0] > HALF:
        return "The best word is more probable than all other words together."
    count = int(np.searchsorted(np.cumsum(best), HALF)) + 1
    room = "many words fit" if best[0] < FEW else "a few words fit" if count <= SOME else "several words fit"
    return f"The {count:,} most probable words together reach a probability of one half: to the model, {room}."


def show_best(view: PredictionView, prediction: Prediction, lead: str) -> None:
    """Draw the most probable words as bars, the true word in full colour; say what they mean, and name its rank."""
    shown = (prediction.place, prediction.truth, TOP.chosen(), prediction.temperature)
    draw(partial(figures.best_words, view.trace, *shown), "candidates")
    meaning(answered(view.trace, prediction))
    untrained_toy = view.model.id.startswith("toy-") and random_weights(view.model)
    if untrained_toy and st.button("Train the toy", icon=":material/model_training:", key="_train_here"):
        open_learning(start=True)
    truth = predictions.true_word(prediction, view.model.tokenizer)
    if truth is None:
        return
    if truth.token_id == view.model.unknown:
        st.caption("The word that you wrote there is not in the vocabulary, so the model cannot name it.")
        return
    st.caption(
        f"{lead} {quoted(truth.word)}. Its probability is {share(truth.probability)}, and it is number {truth.rank:,} "
        f"of {view.model.config.vocabulary:,}."
    )
