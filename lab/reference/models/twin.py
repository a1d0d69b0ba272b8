"""What did training change? A model beside its twin with random weights, one function per step."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.twins import attention_moved, head_spread, layer_spread
from lab.analysis.words import predictions
from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import Prediction
from lab.course.words import escaped, quoted, share
from lab.models.catalogue import twin_id
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.models.twin import random_twin
from lab.questions.question import MARGIN, Option, Question
from lab.reference.models import figures
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.page import OpenPage
from lab.ui.parameters import TWIN_SEED
from lab.ui.quiz.predictions import predict
from lab.ui.shared.prediction import PredictionView, cannot_predict, look

_ONE_TOKEN = "A single token has no other token to attend to. Write a longer sentence in the sidebar."

# The traces that a step shows and the page proves: the same tokens through the model, and through its twin.
Pair = tuple[Trace, Trace]


def _seed() -> int:
    return TWIN_SEED.choose("Seed of the random weights", width=240)


def _pair(trace: Trace) -> tuple[Pair, str]:
    """Draw the header of each step; returns both traces, and the name of the random model."""
    st.header("What did training change?")
    st.markdown(
        f"{quoted(trace.model.id)} next to its twin: the same architecture with **random weights**, as they are before "
        "training. The twin has learned nothing."
    )
    seed = _seed()
    return (trace, _untrained(trace, seed)), f"random weights (seed {seed})"


def _untrained(trace: Trace, seed: int) -> Trace:
    """Run this text through the twin."""
    return runs.run(twin_id(trace.model.id, seed), trace.text, trace.pair or "", trace.interventions)


def show_maps(page: OpenPage, trace: Trace) -> Pair:
    """Draw one head of both models, without names until the learner has said which map belongs to which model."""
    layer, head = page.head_controls(trace)
    pair, twin = _pair(trace)
    maps = [attention_map(each.layer(layer), head) for each in pair]
    if len(trace) < 2:
        st.info(_ONE_TOKEN, icon=":material/edit:")
        return pair
    spreads = [float(layer_spread(each, layer)[head]) for each in pair]
    moved = attention_moved(maps[0], maps[1])
    # 0 is the trained model; the order on screen depends on the seed, so that all readers of a link see the same one.
    order = [0, 1]
    random.Random(f"{pair[1].model.id} {layer} {head}").shuffle(order)
    question = _which(trace.model, (layer, head), twin, order, spreads) if moved >= MARGIN else None
    known = predict("models", question)
    names = [trace.model.id, twin]
    high = max(float(each.max()) for each in maps)
    for column, which, letter in zip(st.columns(2), order, "AB", strict=True):
        with column:
            title = f"Map {letter}: {names[which]}" if known else f"Map {letter}"
            call = partial(figures.head_map, pair[which], layer, head, title, high)
            # The code of a notebook would give away whose map it is, so there is none until the answer is known.
            draw(call if known else call(), f"map-{letter}")
            if len(trace) > figures.MAP_TOKENS:
                st.caption(f"The first {figures.MAP_TOKENS} of {len(trace)} tokens are drawn.")
    st.markdown(
        f"Layer {layer + 1}, head {head + 1} of both models, on one colour scale from 0 to {high:.3f}. On average "
        f"over rows, the two maps place **{moved:.0%}** of a row’s attention on different tokens."
    )
    if known:
        code(random_twin)
    return pair


def _which(model: LoadedModel, place: tuple[int, int], twin: str, order: list[int], spreads: list[float]) -> Question:
    """Ask which of the two maps belongs to the trained model."""
    whose = [escaped(model.id), f"the twin with {twin}"]
    options = tuple(
        Option(
            f"Map {letter}",
            f"Map {letter} belongs to {whose[which]}: on average, its rows have {spreads[which]:.2f} of the largest "
            f"possible entropy, and the rows of the other map have {spreads[1 - which]:.2f}. A row that attends to "
            "all tokens alike has the value 1.",
            correct=which == 0,
        )
        for letter, which in zip("AB", order, strict=True)
    )
    prompt = (
        f"One map is layer {place[0] + 1}, head {place[1] + 1} of {quoted(model.id)}. The other map is "
        f"the same head with {twin}. Which map belongs to the trained model?"
    )
    return Question("which-is-trained", prompt, options)


def show_heads(page: OpenPage, trace: Trace) -> Pair:
    """Draw one number for every head of both models: how evenly the head spreads its attention."""
    pair, twin = _pair(trace)
    if len(trace) < 2:
        st.info(_ONE_TOKEN, icon=":material/edit:")
        return pair
    spreads = [head_spread(each) for each in pair]
    st.markdown(
        "How evenly does a head spread its attention? Each number is the entropy of a row, divided by the largest "
        "possible entropy, and averaged over rows. It is 0 if each token attends to one token, and 1 if each token "
        "attends to all tokens alike."
    )
    names, keys = (trace.model.id, twin), ("spread-trained", "spread-random")
    for column, traced, name, key in zip(st.columns(2), pair, names, keys, strict=True):
        with column:
            draw(partial(figures.head_spread, traced, name), key)
    trained, untrained = spreads
    st.markdown(
        f"The mean over the {trained.size} heads is **{trained.mean():.2f}** in {escaped(trace.model.id)} and "
        f"**{untrained.mean():.2f}** with {twin}. The most and the least even head differ by {np.ptp(trained):.2f} in "
        f"the trained model and by {np.ptp(untrained):.2f} in its twin."
    )
    code(layer_spread)
    return pair


def show_predictions(page: OpenPage, trace: Trace) -> Pair:
    """Draw the words that both models expect at the same place."""
    pair, twin = _pair(trace)
    reason = cannot_predict(trace.model)
    if reason:
        st.info(reason, icon=":material/info:")
        return pair
    view = look(page, trace)
    if view is None:
        return pair
    seen = _untrained(trace, TWIN_SEED.chosen())
    seen = masked_run(seen, view.chosen) if view.chosen else seen
    untrained = (
        predictions.next_prediction(seen, view.place)
        if view.causal
        else predictions.masked_prediction(seen, view.plain.encoding, view.place)
    )
    both = (view.prediction, untrained)
    high = max(float(each.probabilities.max()) for each in both)
    names, keys = (trace.model.id, twin), ("best-trained", "best-random")
    for column, traced, name, key in zip(st.columns(2), (view.trace, seen), names, keys, strict=True):
        with column:
            draw(partial(figures.best_words, traced, view.place, name, high), key)
    words = trace.model.config.vocabulary
    st.markdown(
        f"These are the {figures.TOP} most probable {view.noun} of each model, on one scale. If all {words:,} were "
        f"equally probable, each would have the probability {share(1 / words)}."
    )
    _show_truth(view, both, (trace.model.id, twin))
    return view.trace, seen


def _show_truth(view: PredictionView, both: tuple[Prediction, Prediction], names: tuple[str, str]) -> None:
    """Draw the probability and the rank of the text's own word in each model."""
    if view.truth is None:
        return
    found = [predictions.candidate(each, view.truth.token_id, view.model.tokenizer) for each in both]
    st.table(
        pd.DataFrame(
            {
                "Model": [escaped(name) for name in names],
                f"Probability of {quoted(view.truth.word)}": [share(each.probability) for each in found],
                f"Rank of {view.model.config.vocabulary:,}": [f"{each.rank:,}" for each in found],
            }
        ),
        border="horizontal",
        hide_index=True,
    )
