"""Heads switched off: two screens of the multi-head lesson about the whole model."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import ablation
from lab.analysis.heads.ablation import EachHeadOff
from lab.analysis.heads.attention import window
from lab.analysis.heads.values import Values
from lab.analysis.words import predictions
from lab.analysis.words.predictions import Candidate, Prediction
from lab.course.pages import experiment_of, step_name
from lab.course.words import head_name, quoted, share
from lab.figures.mistakes import moved_by_layer
from lab.figures.multi_head import COLUMNS
from lab.lessons.multi_head_attention import LESSON, checks, figures, meanings
from lab.lessons.multi_head_attention.figures import TOP
from lab.models import forward
from lab.models.ablation import ablate_each_head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER, STEP
from lab.ui.quiz.predictions import predict
from lab.ui.shared.heads_off import Scene, may_run, scene
from lab.ui.shared.keys import is_keys, keys_blank
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.prediction import PredictionView
from lab.ui.tables import show_table
from lab.ui.terms import say

EFFECTS = "head-effects"
_CHOSEN = "The lab chose this sentence because much changes in it."


def show_one(view: OneHead) -> Trace:
    """Switch one head off, and show the model's words with and without the head."""
    now = scene(view, first=True, asked=keys_blank(view.page, view.trace.model))
    with now.drawing:
        _show_one(now)
    return now.trace


def _show_one(now: Scene) -> None:
    found = ablation.head_off(now.trace, now.layer, now.head, now.place, now.to_mean)
    if now.asked is None or found.logits is None:
        if predict(LESSON, checks.first_moved(now.layer, now.head, found.moved.mean(axis=1))):
            _draw_moves(now)
    else:
        without = Prediction(now.asked.place, now.asked.prediction.truth, found.logits)
        say(meanings.looks_from(now.trace, (now.layer, now.head), now.asked.place))
        asked = checks.word_without(now.asked.prediction, without, (now.layer, now.head), now.asked.model.tokenizer)
        if not predict(LESSON, asked):
            return
        _draw_words(now, now.asked, without)
    word = None if now.word is None else (now.word.token_id, now.word.word)
    meaning(meanings.one_off(now.trace, (now.layer, now.head), now.place, word, now.to_mean))
    chosen = f" {_CHOSEN}" if now.asked is not None and is_keys(now.trace) else ""
    st.caption(f"{meanings.measured(now.to_mean)}{chosen}")
    _try_a_neighbour(now)
    if now.asked is not None:
        with st.expander("How far do the vectors move?", on_change="rerun", key="_moves") as moves:
            if moves.open:
                _draw_moves(now)
    code(ablation.head_off, forward.mix_values)


def _try_a_neighbour(now: Scene) -> None:
    """Offer another head of the layer for comparison: the head before, or, for the first head, the head after."""
    other = now.head - 1 if now.head else 1
    if now.trace.model.config.heads > 1:
        try_this("another head of this layer. Does it matter, too?", f"Switch off head {other + 1}", {HEAD: other + 1})


def _draw_moves(now: Scene) -> None:
    """Draw how far every vector moves in the layers after the head."""
    n, place = len(now.trace), now.place or 0
    say(
        f"The {now.trace.model.config.head_width} numbers of the head are {now.off} before $W_O$. The vectors that "
        "each layer hands to the next are called the **residual stream**. The figures show how far they move:"
    )
    st.latex(r"\text{moved} = \frac{\lVert x_{\text{off}} - x \rVert}{\lVert x \rVert}")
    without = ablation.without_head(now.trace, now.layer, now.head, now.to_mean)
    draw(partial(moved_by_layer, now.trace, without, now.layer), "moved-by-layer")
    draw(partial(figures.moved_by_token, now.trace, now.layer, now.head, now.to_mean, place), "moved-by-token")
    shown = window(place, n, COLUMNS)
    if n > COLUMNS:
        st.caption(f"Tokens {shown.start + 1} to {shown.stop} of {n} are drawn.")


def _draw_words(now: Scene, view: PredictionView, without: Prediction) -> None:
    """Draw the most probable words with the head and without it."""
    word = now.word
    assert word is not None
    shown = (now.trace, now.layer, now.head, view.place, word.token_id, now.to_mean)
    for column, make, name in zip(
        st.columns(2), (figures.best_with_head, figures.best_without_head), ("on", "off"), strict=True
    ):
        with column:
            draw(partial(make, *shown), f"best-{name}")
    after = predictions.candidate(without, word.token_id, view.model.tokenizer)
    st.caption(
        f"{quoted(word.word)} goes from {share(word.probability)} (number {word.rank:,} of all words) to "
        f"{share(after.probability)} (number {after.rank:,})."
    )


def show_each(view: OneHead) -> Trace:
    """Show a map of the model in which every head is switched off, one at a time."""
    now = scene(view, first=False, asked=keys_blank(view.page, view.trace.model))
    with now.drawing:
        _show_each(now)
    return now.trace


def _show_each(now: Scene) -> None:
    if not may_run(now.trace):
        return
    word = now.word
    place, asked_word = (None, None) if word is None else (now.place, word.token_id)
    with st.spinner("Switching off one head at a time …"):
        found = ablation.each_head_off(now.trace, place, asked_word, now.to_mean)
    if word is None or now.place is None or found.probabilities is None:
        _show_moves(now, found)
    else:
        _show_effects(now, found, found.probabilities, now.place, word)


def _show_effects(now: Scene, found: EachHeadOff, probabilities: Values, place: int, word: Candidate) -> None:
    """Draw the map for a model that predicts words: the change of ln P."""
    if not predict(LESSON, checks.how_many_matter(quoted(word.word), word.probability, probabilities)):
        return
    effects = figures.log_change(now.trace, place, word.token_id, now.to_mean)
    shown = (now.trace, now.layer, now.head, place, word.token_id, now.to_mean)
    draw(partial(figures.effect_on_word, *shown), EFFECTS, clickable=True)
    st.caption(
        "Each cell is one head that is taken away. The number is the change of ln P, the logarithm of the probability "
        f"of {quoted(word.word)}: −0.69 means half the probability, and +0.69 means twice the probability. Click a "
        "head to choose it."
    )
    meaning(meanings.each_off(word.word, word.probability, probabilities))
    st.caption(meanings.measured(now.to_mean))
    _try_the_strongest(np.abs(effects))
    with st.expander("The largest changes in a table", on_change="rerun", key="_strongest") as strongest:
        if strongest.open:
            _show_strongest(now, found, probabilities, effects)
    way_to("The experiment", experiment_of("needed-heads"))
    code(ablate_each_head, ablation.each_head_off)


def _show_strongest(now: Scene, found: EachHeadOff, probabilities: Values, effects: Values) -> None:
    order = np.argsort(-np.abs(effects), axis=None, kind="stable")[:TOP]
    places = [divmod(int(place), effects.shape[1]) for place in order]
    tokenizer = now.trace.model.tokenizer
    words = (
        [] if (best := found.best) is None else [predictions.word_of(tokenizer, int(best[place])) for place in places]
    )
    table = pd.DataFrame(
        {
            "head off": [f"layer {layer + 1}, head {head + 1}" for layer, head in places],
            "probability": [share(float(probabilities[place])) for place in places],
            "change of ln P": [float(effects[place]) for place in places],
            "times as probable": [float(np.exp(effects[place])) for place in places],
            "most probable then": words,
        }
    )
    formats = {"change of ln P": "%+.3f", "times as probable": "%.3g"}
    show_table(table, formats=formats)
    helps, hurts = int((effects < 0).sum()), int((effects > 0).sum())
    say(
        f"Without a head, the probability falls for {helps} of the {effects.size} heads and rises for {hurts}. A rise "
        "does not mean that the model is better without this head."
    )


def _show_moves(now: Scene, found: EachHeadOff) -> None:
    """Draw the map for a model that predicts no words: how far its last vectors move."""
    draw(partial(figures.effect_on_vectors, now.trace, now.layer, now.head, now.to_mean), EFFECTS, clickable=True)
    st.caption("Each cell is one head that is taken away. Click a head to choose it.")
    meaning(meanings.each_moved(found.moved))
    _try_the_strongest(found.moved)
    code(ablate_each_head, ablation.each_head_off)


def _try_the_strongest(sizes: Values) -> None:
    """Offer the head without which most changes, in the previous step. ``sizes`` (L, H)."""
    layer, head = (int(at) for at in np.unravel_index(int(sizes.argmax()), sizes.shape))
    try_this(
        f"take {head_name((layer, head))} away. What does the model say then?",
        f"Switch off {head_name((layer, head))}",
        {LAYER: layer + 1, HEAD: head + 1, STEP: step_name(LESSON, "one-head-off")},
    )
