"""The feed-forward network on screen: its plan, its neurons, its activation, one neuron written out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.feed_forward import (
    active_on_words,
    bent,
    most_its_own,
    nearly_silent,
    share_below_zero,
    silent,
)
from lab.course.words import named, quoted, signed
from lab.lessons.feed_forward import LESSON, checks, figures, meanings
from lab.lessons.feed_forward.projection import show_projection
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron, first_neuron
from lab.models import forward
from lab.ui import parameters
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.script import meaning, try_this
from lab.ui.quiz.predictions import predict

_BENT = -0.5  # where GELU and ReLU both change the number: the neuron nearest to it shows what they do


def show_order(view: FeedForwardView) -> None:
    """What follows what in this layer, and how long the token's vector is after each step."""
    config = view.config
    draw(partial(figures.layer_plan, view.trace, view.layer.index, view.token), "plan")
    st.caption(
        f"The numbers are the lengths ‖·‖ of the vector of {view.name} after each step. Two vectors that are added "
        "need not point the same way, so their lengths do not add up."
    )
    st.markdown(
        "**Pre-norm**: LayerNorm stands before each sublayer. The sublayers only ever add to the vector on the left, "
        f"so nothing stops it from growing. BERT’s post-norm puts LayerNorm after each sum.{_no_first_norm(view)}"
        if config.pre_norm
        else "**Post-norm**: LayerNorm stands after each sum, so everything that leaves the layer has passed one. "
        "GPT-2’s pre-norm puts LayerNorm before each sublayer; what is handed from layer to layer is never normalized."
    )
    meaning(meanings.layer_order(view.trace, view.layer.index, view.token))
    st.markdown(_on_the_way(view))
    _other_layer(view)
    code(forward.pre_norm_layer if config.pre_norm else forward.post_norm_layer)


def _other_layer(view: FeedForwardView) -> None:
    """The last layer, or from there the first."""
    layers = view.config.layers
    if layers > 1:
        other = 1 if view.layer.index + 1 == layers else layers
        try_this(
            "another layer. Does the network add more to the token there, or less?",
            f"Take layer {other}",
            {parameters.LAYER: other},
        )


def _no_first_norm(view: FeedForwardView) -> str:
    if view.layer.weights.norm_1 is not None:
        return ""
    return " This first layer has none before attention: its input has just been through one, that of the embeddings."


def _on_the_way(view: FeedForwardView) -> str:
    config, n = view.config, len(view.trace)
    last = view.layer.index + 1 == config.layers
    gates = " A **gate** multiplies each of these by a number of its own." if config.gated else ""
    goal = "the end of the stack" if last else f"layer {view.layer.index + 2} of {config.layers}"
    norm = "" if config.pre_norm else "LayerNorm rescales the sum, "
    return (
        f"On the way: attention hands over {n} × {config.width:,} numbers. The feed-forward network widens each token "
        f"to {config.ffn_width:,} numbers, each by itself, and brings it back to {config.width:,}.{gates} "
        f"The result is added to what was there before, {norm}and it goes to {goal}."
    )


def _say_silence(view: FeedForwardView) -> None:
    """A layer that answers to nothing, or hardly to words, is named as such."""
    shares = active_on_words(view.trace)
    said = meanings.silent_for_words(shares)
    if said is not None and view.layer.index in nearly_silent(shares):
        st.info(said, icon=":material/info:")
    if silent(view.layer):
        st.info(
            "All activations of this layer are 0: what its feed-forward network adds is the same for every token, "
            f"a vector of length {view.layer.weights.b_2.norm():.2f}.",
            icon=":material/info:",
        )


def show_neurons(view: FeedForwardView) -> None:
    """The hidden layer: tokens × neurons."""
    config = view.config
    question = checks.hidden_numbers(len(view.trace), config)
    if not predict(LESSON, question):
        return
    left, right = st.columns(2)
    with right:
        drawn = int(parameters.NEURONS_DRAWN.choose("Neurons drawn"))
    first = first_neuron(view, drawn)
    with left:
        parameters.FIRST_NEURON.type_in(
            "First neuron drawn", first + 1, config.ffn_width, parameters.NEURONS_DRAWN.default
        )
    columns = slice(first, min(first + drawn, config.ffn_width))
    _draw_neurons(view, columns)
    _say_silence(view)
    values = view.layer.ffn_activation
    if config.gated:
        st.markdown(
            f"In {quoted(view.trace.model.id)} each neuron has a **gate**: a second weighted sum of the same numbers. "
            "What the function gives is multiplied by it, so an activation can be far below 0 (GeGLU, Shazeer 2020)."
        )
    meaning(meanings.active_neurons(view.trace, view.layer.index, view.token))
    _try_others(view, columns)
    st.markdown(
        f"Over the whole layer, {float((values > 0).float().mean()):.0%} of the {values.numel():,} activations are "
        f"above 0. {_largest(view)} Click a cell to choose its token and neuron. In Python: "
        f"`trace.layer({view.layer.index}).ffn_activation`."
    )
    show_projection(view)
    code(forward.feed_forward)


def _largest(view: FeedForwardView) -> str:
    """The largest activation of the layer, and where it is: often far from the words, and from what is drawn."""
    values = view.layer.ffn_activation
    token, neuron = divmod(int(values.argmax()), values.shape[1])
    return f"The largest is {float(values.max()):.2f}, that of neuron {neuron + 1:,} at {named(view.trace, token)}."


def _try_others(view: FeedForwardView, columns: slice) -> None:
    """The neuron whose activation at the token is furthest above that at every other token; else the next neurons."""
    own, drawn = most_its_own(view.layer, view.token), columns.stop - columns.start
    if own is not None and own not in range(columns.start, columns.stop):
        why = f"a neuron that {view.name} excites at least twice as much as any other token. Look down its column."
        first = own - own % drawn + 1
        try_this(why, f"Take neuron {own + 1:,}", {parameters.NEURON: own + 1, parameters.FIRST_NEURON: first})
    elif columns.stop < view.config.ffn_width or columns.start:
        first = columns.stop + 1 if columns.stop < view.config.ffn_width else 1
        why = f"other neurons. Which of them does {view.name} excite?"
        try_this(why, f"From neuron {first:,} on", {parameters.FIRST_NEURON: first})


def _draw_neurons(view: FeedForwardView, columns: slice) -> None:
    n, rows = len(view.trace), figures.shown(view.trace, view.token)
    place = (view.layer.index, columns.start, columns.stop, view.token, view.neuron)
    clicked = draw_cells(partial(figures.neurons, view.trace, *place), "neurons")
    if n > figures.TOKENS:
        st.caption(f"Drawn are tokens {rows.start + 1} to {rows.stop} of {n}, around the chosen one.")
    if clicked is not None and (here := (clicked, columns.start, rows.start)) != st.session_state.get(
        "_clicked_neuron"
    ):
        st.session_state["_clicked_neuron"] = here
        parameters.TOKEN.set(clicked[0] + rows.start + 1)
        parameters.NEURON.set(clicked[1] + columns.start + 1)
        st.rerun()


def show_activation(view: FeedForwardView) -> None:
    """The non-linearity, and where on it this token's neurons lie."""
    hidden_values = view.layer.ffn_hidden[view.token].numpy()
    if not parameters.NEURON.chosen():
        view = replace(view, neuron=int(np.abs(hidden_values - _BENT).argmin()))
    choose_neuron(view)
    share = share_below_zero(view.layer, view.token)
    _say_silence(view)
    st.latex(_formula(view.config.activation))
    draw(view.figure(figures.activation), "activation")
    bent_values = bent(view.layer, view.config.activation, view.token)
    hidden, active = float(hidden_values[view.neuron]), float(bent_values[view.neuron])
    st.markdown(
        f"**{share:.1%}** of the hidden values of {view.name} are below 0. The ring is neuron {view.neuron + 1:,}: "
        f"{_ring(view, hidden, active)}.{_gate_of(view)}"
    )
    meaning(meanings.held_back(hidden_values, bent_values))
    st.markdown(_in_words(view.config.activation))
    code(forward.activate, forward.gelu)


def _ring(view: FeedForwardView, hidden: float, active: float) -> str:
    """A hidden value through the function: as x · Φ(x) where it is GELU itself."""
    if view.config.activation != "gelu":
        return f"from {signed(hidden, 3)} to {signed(active, 3)}"
    share = view.steps_of(view.neuron).share
    return f"{signed(hidden, 3)} × Φ({signed(hidden, 3)}) = {signed(hidden, 3)} × {share:.3f} = **{signed(active, 3)}**"


def _gate_of(view: FeedForwardView) -> str:
    steps = view.steps_of(view.neuron)
    if steps.gate is None:
        return ""
    return f" Its gate is {steps.gate:z.3f}, so its activation is the product, {steps.output:z.3f}."


def _formula(name: str) -> str:
    if name == "relu":
        return r"\text{ReLU}(x) = \max(0, x)"
    if name == "gelu":
        return r"\text{GELU}(x) = x \cdot \Phi(x) = \frac{x}{2}\left(1 + \text{erf}\,\frac{x}{\sqrt 2}\right)"
    return r"\text{GELU}(x) \approx \frac{x}{2}\left(1 + \tanh\sqrt{\tfrac{2}{\pi}}\,(x + 0.044715\,x^3)\right)"


def _in_words(name: str) -> str:
    if name == "relu":
        return (
            "ReLU keeps what is above 0 and makes everything else 0. Without it, the two matrices could be multiplied "
            "into one."
        )
    phi = "Φ(x) is the share of a normal distribution below x. " * (name == "gelu")
    return (
        f"{phi}Far above 0, GELU hardly changes the number. Far below 0, it gives almost 0. Its lowest value is "
        "−0.17, at −0.75. Without a non-linearity, the two matrices could be multiplied into one."
    )
