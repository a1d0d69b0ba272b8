"""Heads switched off: two screens of the multi-head lesson about the whole model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import ablation as measure
from lab.analysis.heads.ablation import EachHeadOff, HeadOff
from lab.analysis.heads.attention import window
from lab.analysis.heads.values import Values
from lab.analysis.words import predictions as read
from lab.analysis.words.predictions import Candidate, Prediction
from lab.charts.base.labels import visible
from lab.course.words import quoted, share
from lab.figures.mistakes import moved_by_layer
from lab.figures.multi_head import COLUMNS
from lab.lessons.multi_head_attention import checks as ask
from lab.lessons.multi_head_attention import figures
from lab.lessons.multi_head_attention.figures import TOP
from lab.lessons.multi_head_attention.screens import LESSON
from lab.models import forward
from lab.models.ablation import ablate_each_head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.one_head import OneHead
from lab.ui.parameters import MEAN, OFF, TOY
from lab.ui.prediction import PredictionView, cannot_predict, look
from lab.ui.quiz import predict

EFFECTS = "head-effects"
_A_CHANCE = 20  # the rank up to which the word of the text is followed unasked
# Numbers in the vectors of all runs together; 160 MB.
_NUMBERS = 40_000_000
# Multiplications that nobody waits for unasked, and how many a core of a small server does a second.
_UNASKED, _A_SECOND = 3e10, 5e9


@dataclass(frozen=True)
class Scene:
    """What is run with heads off: a trace, the head chosen (from 0), the place asked about and the word followed there.

    Place and word are None for a model that predicts none.
    """

    trace: Trace
    layer: int
    head: int
    asked: PredictionView | None
    word: Candidate | None
    to_mean: bool

    @property
    def place(self) -> int | None:
        return None if self.asked is None else self.asked.place

    @property
    def off(self) -> str:
        if not self.to_mean:
            return "set to 0"
        later = ", later ones included," if self.trace.model.config.causal else ""
        return f"set to their mean over the text’s tokens{later}"


def _scene(view: OneHead, *, first: bool) -> Scene:
    """The controls of a step, and what they choose. ``first`` is the step in which words are hidden."""
    asked = None
    page, trace, layer, head = view.page, view.trace, view.layer.index, view.head
    reason = cannot_predict(trace.model)
    if page.selection.mode == TOY and (reason is not None or not trace.model.config.causal):
        st.info("In this toy no word is hidden, so what moves in its vectors is shown.", icon=":material/info:")
    elif reason is not None:
        st.info(f"{reason} What moves in its vectors is shown instead.", icon=":material/info:")
    else:
        st.markdown(
            "To see what a head is worth, ask the model for the next token, with the head and without it."
            if trace.model.config.causal
            else "To see what a head is worth, hide a word behind [MASK]. The model gives every word of its vocabulary "
            "a probability to stand there, with the head and without it."
        )
        asked = look(page, trace, first=first)
    left, right = st.columns(2)
    with left:
        way = OFF.choose(
            "Replace the head’s numbers by", help="0, or what the head brings to the tokens of this text on average."
        )
    if asked is None:
        return Scene(trace, layer, head, None, None, way == MEAN)
    with right:
        return Scene(asked.trace, layer, head, asked, _followed(asked), way == MEAN)


def _followed(asked: PredictionView) -> Candidate:
    """The word whose probability is followed: the one in the text if the model gives it a chance, else its best."""
    offered = {each.token_id: each for each in asked.best(TOP)}
    truth = asked.truth
    start = 0
    if truth is not None:
        offered.setdefault(truth.token_id, truth)
        start = list(offered).index(truth.token_id) if truth.rank <= _A_CHANCE else 0
    chosen = st.selectbox(
        "Follow the probability of", list(offered), index=start, key=f"_followed.{asked.place}.{hash(tuple(offered))}",
        format_func=lambda i: f"{visible(offered[i].word)} · rank {offered[i].rank:,}",
    )  # fmt: skip
    return offered[chosen]


def show_one(view: OneHead) -> Trace:
    """One head off, and everything after it."""
    now = _scene(view, first=True)
    _show_one(now)
    return now.trace


def _show_one(now: Scene) -> None:
    st.markdown("What the layers hand on, one vector for each token, is called the **residual stream**.")
    found = measure.head_off(now.trace, now.layer, now.head, now.place, now.to_mean)
    mean = found.moved.mean(axis=1)
    question = ask.first_moved(now.layer, now.head, mean)
    if question is not None and not predict(LESSON, question):
        return
    st.markdown(
        f"**Layer {now.layer + 1}, head {now.head + 1} off**: its {now.trace.model.config.head_width} numbers are "
        f"{now.off} at the *input* of $W_O$. The weights stay, and so do the other heads of the layer."
    )
    st.latex(r"\text{moved} = \frac{\lVert x_{\text{off}} - x \rVert}{\lVert x \rVert}")
    without = measure.without_head(now.trace, now.layer, now.head, now.to_mean)
    draw(partial(moved_by_layer, now.trace, without, now.layer), "moved-by-layer")
    _draw_moved(now)
    _show_prediction(now, found)
    code(measure.head_off, forward.mix_values)


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
    ):  # fmt: skip
        with column:
            draw(partial(make, *shown), f"best-{name}")
    after = read.candidate(without, word.token_id, view.model.tokenizer)
    st.markdown(
        f"The probability of {quoted(word.word)} goes from **{share(word.probability)}** (rank {word.rank:,}) to "
        f"**{share(after.probability)}** (rank {after.rank:,})."
    )


def show_each(view: OneHead) -> Trace:
    """Every head off, one at a time, as a map of the model."""
    now = _scene(view, first=False)
    _show_each(now)
    return now.trace


def _show_each(now: Scene) -> None:
    config, n, most = now.trace.model.config, len(now.trace), measure.longest(now.trace.model.config, _NUMBERS)
    if n > most:
        st.info(
            f"{config.layers * config.heads} runs of {n} tokens do not fit into this server’s memory. Shorten the text "
            f"to {most} tokens.",
            icon=":material/content_cut:",
        )
        return
    work = measure.multiplications(config, n)
    asked = f"_each.{now.trace.model.id}.{hash(now.trace.token_ids)}"
    if work > _UNASKED and not st.session_state.get(asked):
        st.markdown(
            f"{config.layers * config.heads} heads, one run each over {n} tokens: about {work / _A_SECOND:.0f} seconds."
        )
        st.button("Switch off each head", icon=":material/play_arrow:", on_click=_allow, args=(asked,))
        return
    word = now.word
    place, asked_word = (None, None) if word is None else (now.place, word.token_id)
    with st.spinner("Switching off one head at a time …"):
        found = measure.each_head_off(now.trace, place, asked_word, now.to_mean)
    if word is None or now.place is None or found.probabilities is None:
        _show_moves(now, found)
    else:
        _show_effects(now, found, found.probabilities, now.place, word)


def _allow(name: str) -> None:
    st.session_state[name] = True


def _show_effects(now: Scene, found: EachHeadOff, probabilities: Values, place: int, word: Candidate) -> None:
    """The map for a model that predicts: change of ln P."""
    effects = figures.log_change(now.trace, place, word.token_id, now.to_mean)
    said = quoted(word.word)
    prompt = f"Which head matters most here? Without it, the probability of {said} changes by the largest factor."
    question = ask.matters_most(prompt, effects, "in ln P")
    if question is not None and not predict(LESSON, question):
        return
    shown = (now.trace, now.layer, now.head, place, word.token_id, now.to_mean)
    draw(partial(figures.effect_on_word, *shown), EFFECTS, clickable=True)
    st.markdown(
        f"With all heads on, the probability P of {said} is {share(word.probability)}. The map shows the change of "
        "**ln P**, its natural logarithm, with one head off: −0.69 means half the probability, +0.69 twice. Click a "
        "head to choose it, then go back to **One head off**."
    )
    _show_strongest(now, found, probabilities, effects)
    code(ablate_each_head, measure.each_head_off)


def _show_strongest(now: Scene, found: EachHeadOff, probabilities: Values, effects: Values) -> None:
    order = np.argsort(-np.abs(effects), axis=None, kind="stable")[:TOP]
    places = [divmod(int(place), effects.shape[1]) for place in order]
    tokenizer = now.trace.model.tokenizer
    best = found.best
    table = pd.DataFrame(
        {
            "head off": [f"layer {layer + 1}, head {head + 1}" for layer, head in places],
            "probability": [share(float(probabilities[place])) for place in places],
            "change of ln P": [float(effects[place]) for place in places],
            "most probable then": [read.word_of(tokenizer, int(best[place])) for place in places] if best is not None
            else [],
        }
    )  # fmt: skip
    st.markdown(f"**The {len(places)} largest changes**")
    st.dataframe(
        table, hide_index=True, height="content",
        column_config={"change of ln P": st.column_config.NumberColumn(format="%+.3f")},
    )  # fmt: skip
    helps, hurts = int((effects < 0).sum()), int((effects > 0).sum())
    st.markdown(
        f"Switching a head off lowers the probability for {helps} of the {effects.size} heads and raises it for "
        f"{hurts}. That holds for this word in this text, and for one head at a time."
    )


def _show_moves(now: Scene, found: EachHeadOff) -> None:
    """The map for a model that predicts nothing: how far its last vectors move."""
    prompt = "Which head matters most here? Without it, the vectors of the last layer move farthest."
    question = ask.matters_most(prompt, found.moved, "of their length, as a mean over tokens")
    if question is not None and not predict(LESSON, question):
        return
    draw(partial(figures.effect_on_vectors, now.trace, now.layer, now.head, now.to_mean), EFFECTS, clickable=True)
    st.markdown("Click a head to choose it, then go back to **One head off**.")
    code(ablate_each_head, measure.each_head_off)
