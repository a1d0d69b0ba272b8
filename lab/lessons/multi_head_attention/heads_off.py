"""Heads switched off: two screens of the multi-head lesson about the whole model."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import ablation
from lab.analysis.heads.ablation import EachHeadOff, HeadOff
from lab.analysis.heads.attention import window
from lab.analysis.heads.parked import parked_share
from lab.analysis.heads.values import Values
from lab.analysis.words import predictions
from lab.analysis.words.predictions import Candidate, Prediction
from lab.course.heads import head_name, percent, resting_place
from lab.course.pages import experiment_of, step_name
from lab.course.parking import worth
from lab.course.words import escaped, quoted, share
from lab.figures.mistakes import moved_by_layer
from lab.figures.multi_head import COLUMNS
from lab.lessons.multi_head_attention import LESSON, checks, figures, meanings
from lab.lessons.multi_head_attention.figures import TOP
from lab.models import forward
from lab.models.ablation import ablate_each_head
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER, STEP
from lab.ui.quiz.predictions import predict
from lab.ui.shared.heads_off import Scene, may_run, scene
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table

EFFECTS = "head-effects"


def show_one(view: OneHead) -> Trace:
    """One head off, and everything after it."""
    now = scene(view, first=True)
    _show_one(now)
    return now.trace


def _show_one(now: Scene) -> None:
    st.markdown("What the layers hand on, one vector for each token, is called the **residual stream**.")
    found = ablation.head_off(now.trace, now.layer, now.head, now.place, now.to_mean)
    mean = found.moved.mean(axis=1)
    question = checks.first_moved(now.layer, now.head, mean)
    if not predict(LESSON, question):
        return
    st.markdown(
        f"**Layer {now.layer + 1}, head {now.head + 1} off**: its {now.trace.model.config.head_width} numbers are "
        f"{now.off} at the *input* of $W_O$. The weights stay, and so do the other heads of the layer."
    )
    st.latex(r"\text{moved} = \frac{\lVert x_{\text{off}} - x \rVert}{\lVert x \rVert}")
    without = ablation.without_head(now.trace, now.layer, now.head, now.to_mean)
    draw(partial(moved_by_layer, now.trace, without, now.layer), "moved-by-layer")
    _draw_moved(now)
    _show_prediction(now, found)
    word = None if now.word is None else (now.word.token_id, now.word.word)
    meaning(meanings.one_off(now.trace, (now.layer, now.head), now.place, word, now.to_mean))
    _try_a_parked_head(now)
    code(ablation.head_off, forward.mix_values)


def _try_a_parked_head(now: Scene) -> None:
    """The head that parks most, or from there the one that parks least."""
    shares = parked_share(now.trace)
    if np.ptp(shares) == 0:
        return
    most, least = (np.unravel_index(int(at), shares.shape) for at in (shares.argmax(), shares.argmin()))
    there = (now.layer, now.head) == (int(most[0]), int(most[1]))
    at: Head = (int(least[0]), int(least[1])) if there else (int(most[0]), int(most[1]))
    where = f"of the words’ attention on {resting_place(now.trace)}"
    try_this(
        f"{head_name(at).capitalize()} has {percent(float(shares[at]))} {where}, "
        f"{'the least' if there else 'the most'} of all heads. Does more change without it, or less?",
        f"Switch off {head_name(at)}",
        {LAYER: at[0] + 1, HEAD: at[1] + 1},
    )


def _draw_moved(now: Scene) -> None:
    n, place = len(now.trace), now.place or 0
    draw(partial(figures.moved_by_token, now.trace, now.layer, now.head, now.to_mean, place), "moved-by-token")
    shown = window(place, n, COLUMNS)
    if n > COLUMNS:
        st.caption(f"Drawn are tokens {shown.start + 1} to {shown.stop} of {n}.")


def _show_prediction(now: Scene, found: HeadOff) -> None:
    """The most probable words with the head and without it."""
    view, word = now.asked, now.word
    if view is None or word is None or found.logits is None:
        return
    without = Prediction(view.place, view.prediction.truth, found.logits)
    shown = (now.trace, now.layer, now.head, view.place, word.token_id, now.to_mean)
    for column, make, name in zip(
        st.columns(2), (figures.best_with_head, figures.best_without_head), ("on", "off"), strict=True
    ):
        with column:
            draw(partial(make, *shown), f"best-{name}")
    after = predictions.candidate(without, word.token_id, view.model.tokenizer)
    st.markdown(
        f"The probability of {quoted(word.word)} goes from **{share(word.probability)}** (rank {word.rank:,}) to "
        f"**{share(after.probability)}** (rank {after.rank:,})."
    )


def show_each(view: OneHead) -> Trace:
    """Every head off, one at a time, as a map of the model."""
    now = scene(view, first=False)
    _show_each(now)
    return now.trace


def _show_each(now: Scene) -> None:
    if not may_run(now):
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
    """The map for a model that predicts: change of ln P."""
    effects = figures.log_change(now.trace, place, word.token_id, now.to_mean)
    said = quoted(word.word)
    st.markdown(
        f"With all heads on, the probability P of {said} is {share(word.probability)}. What changes is given as the "
        "change of **ln P**, its natural logarithm: −0.69 means half the probability, +0.69 twice, 0 no change."
    )
    question = checks.parked_or_busy(
        now.trace, np.abs(effects), f"the size of the change of ln P({escaped(word.word)})"
    )
    if not predict(LESSON, question):
        return
    shown = (now.trace, now.layer, now.head, place, word.token_id, now.to_mean)
    draw(partial(figures.effect_on_word, *shown), EFFECTS, clickable=True)
    st.markdown("The map shows the change of ln P with each head off, one head at a time. Click a head to choose it.")
    _show_strongest(now, found, probabilities, effects)
    meaning(
        f"{meanings.each_off(word.word, word.probability, probabilities)} "
        f"{worth(now.trace, place, word.token_id, now.to_mean)}"
    )
    _try_the_strongest(np.abs(effects))
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
    st.markdown(f"**The {len(places)} largest changes**")
    formats = {"change of ln P": "%+.3f", "times as probable": "%.3g"}
    show_table(table, formats=formats)
    helps, hurts = int((effects < 0).sum()), int((effects > 0).sum())
    st.markdown(
        f"Switching a head off lowers the probability for {helps} of the {effects.size} heads and raises it for "
        f"{hurts}. A rise is no advice to leave the head out: this is one word in one text."
    )


def _show_moves(now: Scene, found: EachHeadOff) -> None:
    """The map for a model that predicts nothing: how far its last vectors move."""
    question = checks.parked_or_busy(now.trace, found.moved, "how far the vectors of the last layer move")
    if not predict(LESSON, question):
        return
    draw(partial(figures.effect_on_vectors, now.trace, now.layer, now.head, now.to_mean), EFFECTS, clickable=True)
    st.markdown("Click a head to choose it.")
    meaning(worth(now.trace, None, None, now.to_mean))
    _try_the_strongest(found.moved)
    code(ablate_each_head, ablation.each_head_off)


def _try_the_strongest(sizes: Values) -> None:
    """The head without which most changes, one step back. ``sizes`` (L, H)."""
    layer, head = (int(at) for at in np.unravel_index(int(sizes.argmax()), sizes.shape))
    try_this(
        f"Most changes without {head_name((layer, head))}. Look at what moves, and what the model says then.",
        f"Switch off {head_name((layer, head))}",
        {LAYER: layer + 1, HEAD: head + 1, STEP: step_name(LESSON, "one-head-off")},
    )
