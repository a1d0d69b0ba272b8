"""The first screens of the feed-forward lesson: the order of a layer's parts, and the neurons of one token."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.feed_forward import (
    activation_name,
    active_on_words,
    bent,
    most_active,
    most_its_own,
    nearly_silent,
    share_below_zero,
    silent,
)
from lab.course.words import named, quoted, signed
from lab.figures.sublayers import TOKENS
from lab.lessons.feed_forward import LESSON, checks, figures, meanings
from lab.lessons.feed_forward.projection import show_projection
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron, first_neuron
from lab.models import forward
from lab.ui import parameters
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.closing import meaning, try_this
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say

_BENT = -0.5  # a sum that both GELU and ReLU change; the neuron with the nearest sum shows what the function does


def show_order(view: FeedForwardView) -> None:
    """Show the order of the parts of this layer, and how long the token's vector is after each part."""
    draw(partial(figures.layer_plan, view.trace, view.layer.index, view.token), "plan")
    st.caption(
        f"The numbers are the lengths of the vector of {view.name} after each part. Two vectors that point in "
        "different directions make a shorter sum, so the lengths do not add up."
    )
    say(
        "In this model, **LayerNorm** comes before each half (**pre-norm**), so nothing stops the vector on the left "
        f"from growing. The step **Residual and LayerNorm** explains it.{_no_first_norm(view)}"
        if view.config.pre_norm
        else "In this model, **LayerNorm** comes after each sum (**post-norm**). The step **Residual and LayerNorm** "
        "explains it."
    )
    meaning(meanings.layer_order(view.trace, view.layer.index, view.token))
    _other_layer(view)
    code(forward.pre_norm_layer if view.config.pre_norm else forward.post_norm_layer)


def _other_layer(view: FeedForwardView) -> None:
    """Offer the last layer; from there, the first layer."""
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
    return (
        " This first layer has no LayerNorm before attention, because its input comes from the LayerNorm of the "
        "embeddings."
    )


def show_neurons(view: FeedForwardView) -> None:
    """Show the sums of a token's neurons, and how the function turns the sums into activations."""
    sums = view.layer.ffn_hidden[view.token].numpy()
    if not parameters.NEURON.chosen():
        view = replace(view, neuron=int(np.abs(sums - _BENT).argmin()))
    name = activation_name(view.config.activation)
    bias = " and a last number, its bias" if view.config.biases else ""
    say(
        f"The network has {view.config.ffn_width:,} **neurons**. Each neuron has a learned number for every number of "
        f"{view.name}: it multiplies them pairwise and adds up the products{bias}. A function, **{name}**, turns this "
        f"sum into the neuron’s **activation**. A second matrix turns all activations into {view.config.width:,} "
        "numbers again, which are added to the token’s vector."
    )
    share = share_below_zero(view.layer, view.token)
    asked = None if silent(view.layer) else checks.below_zero(share, view.name, view.config.ffn_width)
    if not predict(LESSON, asked):
        return
    draw(view.figure(figures.activation), "activation")
    outputs = bent(view.layer, view.config.activation, view.token)
    hidden, active = float(sums[view.neuron]), float(outputs[view.neuron])
    st.caption(
        "Each point is a neuron; the axes are its sum and its activation. The ring is neuron "
        f"{view.neuron + 1:,}: {signed(hidden, 3)} becomes {signed(active, 3)}.{_gate_of(view)}"
    )
    _say_silence(view)
    meaning(meanings.held_back(view.name, sums, outputs))
    say(
        f"Why a function? Without {name}, the second matrix would only add up sums, and a sum of sums is a sum: a "
        f"single "
        "matrix could do the same."
    )
    choose_neuron(view)
    _show_more(view, name, hidden, active)
    code(forward.feed_forward, forward.activate, forward.gelu)


def _show_more(view: FeedForwardView, name: str, hidden: float, active: float) -> None:
    """Draw, behind clicks, the function ``name`` with the neuron's numbers, the neurons of all tokens, the way back."""
    with st.expander(f"{name}, written out", on_change="rerun", key="_written_out") as written:
        if written.open:
            _write_out(view, name, hidden, active)
    with st.expander("The neurons at every token", on_change="rerun", key="_every_token") as every:
        if every.open:
            _show_every_token(view)
    with st.expander(f"Back to {view.config.width:,} numbers", on_change="rerun", key="_back") as back:
        if back.open:
            show_projection(view)


def _write_out(view: FeedForwardView, name: str, hidden: float, active: float) -> None:
    """Write the function as a formula, also with the numbers of the neuron."""
    st.latex(_formula(view.config.activation))
    if view.config.activation == "gelu":
        share = view.steps_of(view.neuron).share
        say(
            f"Neuron {view.neuron + 1:,}: {signed(hidden, 3)} × Φ({signed(hidden, 3)}) = {signed(hidden, 3)} × "
            f"{share:.3f} = **{signed(active, 3)}**. Φ(x) is the share of a normal distribution that is below x."
        )
    say(_in_words(view.config.activation))
    if view.config.gated:
        say(
            f"In {quoted(view.trace.model.id)} each neuron has a **gate**: a second weighted sum of the same numbers. "
            "The value of the function is multiplied by this gate, so an activation can be far below 0 (GeGLU, "
            "Shazeer 2020)."
        )
    first, second = (" + b_1", " + b_2") if view.config.biases else ("", "")
    inner = rf"\text{{{name}}}(xW_1{first})"
    inner = rf"({inner} \odot xW_g)" if view.config.gated else inner
    say("The whole network, with its two matrices (Vaswani et al. 2017, §3.3):")
    st.latex(rf"\text{{FFN}}(x) = {inner}\,W_2{second}")


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
        return "ReLU keeps a number above 0 and makes every other number 0."
    return (
        "Far above 0, GELU hardly changes the number. Far below 0, it gives almost 0. Its lowest value is −0.17, at "
        "−0.75."
    )


def _say_silence(view: FeedForwardView) -> None:
    """Say if the layer responds to nothing, or hardly responds to words."""
    shares = active_on_words(view.trace)
    said = meanings.silent_for_words(shares)
    if said is not None and view.layer.index in nearly_silent(shares):
        st.info(said, icon=":material/info:")
    if silent(view.layer):
        st.info(
            "All activations of this layer are 0, so its feed-forward network adds the same vector to every token, of "
            f"length {view.layer.weights.b_2.norm():.2f}.",
            icon=":material/info:",
        )


def _show_every_token(view: FeedForwardView) -> None:
    """Draw a map of activations, tokens × some of the neurons; a click chooses a token and a neuron."""
    if not parameters.NEURON.chosen():  # above, the neuron was one that shows what the function does
        view = replace(view, neuron=most_active(view.layer, view.token, 1)[0])
    map_of_neurons = st.container()  # drawn above the controls that choose its columns
    left, right = st.columns(2)
    with right:
        drawn = int(parameters.NEURONS_DRAWN.choose("Neurons drawn"))
    first, most = first_neuron(view, drawn), view.config.ffn_width
    with left:
        parameters.FIRST_NEURON.type_in("First neuron drawn", first + 1, most, parameters.NEURONS_DRAWN.default)
    columns = slice(first, min(first + drawn, most))
    with map_of_neurons:
        _draw_neurons(view, columns)
    values = view.layer.ffn_activation
    say(
        f"{meanings.active_neurons(view.trace, view.layer.index, view.token)}\n\nOver the whole layer, "
        f"{float((values > 0).float().mean()):.0%} of the {values.numel():,} activations are above 0. "
        f"{_largest(view)} Click a cell to choose its token and neuron. In Python: "
        f"`trace.layer({view.layer.index}).ffn_activation`."
    )
    _try_others(view, columns)


def _largest(view: FeedForwardView) -> str:
    """Name the largest activation of the layer, which is often not at a word, and not among the neurons drawn."""
    values = view.layer.ffn_activation
    token, neuron = divmod(int(values.argmax()), values.shape[1])
    return f"The largest activation is {float(values.max()):.2f}: neuron {neuron + 1:,} at {named(view.trace, token)}."


def _try_others(view: FeedForwardView, columns: slice) -> None:
    """Offer a neuron that the token excites far more than any other token does; otherwise, the next neurons."""
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
    if n > TOKENS:
        st.caption(f"The map shows tokens {rows.start + 1} to {rows.stop} of {n}, around the chosen one.")
    if clicked is not None and (here := (clicked, columns.start, rows.start)) != st.session_state.get(
        "_clicked_neuron"
    ):
        st.session_state["_clicked_neuron"] = here
        parameters.TOKEN.set(clicked[0] + rows.start + 1)
        parameters.NEURON.set(clicked[1] + columns.start + 1)
        st.rerun()
