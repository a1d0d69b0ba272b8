"""Neurons: what they do with a vector, and why there is a function between the two matrices."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.feed_forward import activation_name, bent, neuron_steps, silent
from lab.course.words import signed
from lab.lessons.feed_forward import LESSON, neuron_figures
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron, show_sentence
from lab.models import forward
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui.drawing import code, draw
from lab.ui.parameters import NEURON
from lab.ui.screen import meaning, say

IDEA = """
The network is two matrices with a function between them. The first, $W_1$, makes {inner:,} numbers of the {width:,}
numbers of {token}: one **sum** for each **neuron**. The function, **{function}**, makes of each sum the neuron’s
**activation**. What is it good for?"""
CAPTION = """
Each point is one neuron. The ring marks neuron {neuron:,}{held}: its sum {sum} becomes {activation}.{gate} On the
dashed line, each sum would stay as it is."""
HELD = ", one of those that are held back"
GATE = " Its gate is {gate}, so its activation is the product, {output}."
READING = "At {token}, {above:,} of {inner:,} neurons have a sum above 0. {holds_back}"
HOLDS_BACK = {
    "relu": "ReLU keeps these sums, and makes all others 0.",
    "gelu": "GELU lets large sums through, and holds back sums below 0: the least that comes out is −0.17.",
}
ADDS = """
Each neuron has a vector of its own: its row of the second matrix, $W_2$. The network adds up all {inner:,} vectors,
each times its neuron’s activation."""
BELOW = " A neuron below 0 adds little, but many of them can add up."
WHY = """
**Why a function?** Without it, two matrices could do no more than one: $(x\\,W_1)\\,W_2 = x\\,(W_1 W_2)$. With it, each
neuron is a condition on $x$: its vector counts where the condition is met, and hardly elsewhere (next step)."""
SILENT = "All activations of this layer are 0, so its network adds the same vector to every token."
GATED = """
In this model, each neuron has a **gate**: a second sum of the same numbers. The value of the function is multiplied by
it (GeGLU, Shazeer 2020)."""
FORMULAS = {
    "relu": r"\text{ReLU}(x) = \max(0, x)",
    "gelu": r"\text{GELU}(x) = x \cdot \Phi(x) = \frac{x}{2}\left(1 + \text{erf}\,\frac{x}{\sqrt 2}\right)",
    "tanh": r"\text{GELU}(x) \approx \frac{x}{2}\left(1 + \tanh\sqrt{\tfrac{2}{\pi}}\,(x + 0.044715\,x^3)\right)",
}
NUMBERS = """
Neuron {neuron:,}: {sum} × Φ({sum}) ≈ {sum} × {share:.3f} ≈ **{activation}**. Φ(x) is the share of a normal distribution
that is below x."""
_BENT = -0.5  # a sum that both GELU and ReLU change; the neuron with the nearest sum shows what the function does


def show(view: FeedForwardView) -> None:
    """Show the sums of a token's neurons, how the function turns the sums into activations, and what it is for."""
    sums, config = view.layer.ffn_hidden[view.token].numpy(), view.config
    held = "" if NEURON.chosen() else HELD
    if not NEURON.chosen():
        view = replace(view, neuron=int(np.abs(sums - _BENT).argmin()))
    function = activation_name(config.activation)
    say(IDEA.format(inner=config.ffn_width, width=config.width, token=view.name, function=function))
    show_sentence(view)
    draw(view.figure(neuron_figures.activation), "activation")
    steps = neuron_steps(view.layer, config, view.token, view.neuron)
    gate = "" if steps.gate is None else GATE.format(gate=signed(steps.gate, 3), output=signed(steps.output, 3))
    active = float(bent(view.layer, config.activation, view.token)[view.neuron])
    numbers = {"neuron": view.neuron + 1, "sum": signed(steps.hidden, 3), "activation": signed(active, 3)}
    st.caption(CAPTION.format(gate=gate, held=held, **numbers))
    if silent(view.layer):
        st.info(SILENT, icon=":material/info:")
    kind = "relu" if config.activation == "relu" else "gelu"
    say(ADDS.format(inner=len(sums)) + BELOW * (kind == "gelu"))
    above = int((sums > 0).sum())
    meaning(READING.format(token=view.name, above=above, inner=len(sums), holds_back=HOLDS_BACK[kind]))
    say(WHY)
    choose_neuron(view)
    with st.expander(f"{function}, written out", on_change="rerun", key="_written_out") as written:
        if written.open:
            st.latex(FORMULAS.get(config.activation, FORMULAS["tanh"]))
            if config.activation == "gelu":
                say(NUMBERS.format(share=steps.share, **numbers))
            if config.gated:
                say(GATED)
    with st.expander("The neurons at every token", on_change="rerun", key="_every_token") as every:
        if every.open:
            draw(partial(neuron_figures.neurons, view.trace, view.layer.index, view.token, view.neuron), "neurons")
    code(forward.feed_forward, forward.activate, forward.gelu)


@asks(
    basis=derivable(LESSON, "neurons", "two matrices in a row do what one does"),
    hint="What happens to a vector that is multiplied by two matrices, one after the other?",
)
def without_function() -> Question:
    """Ask what is lost without the function between the two matrices."""
    return Question(
        "without-function",
        "Leave out the function between the two matrices of a network, so that each activation is the sum itself. What "
        "is lost?",
        (
            Option(
                "The two matrices could do no more than one matrix",
                "The product of two matrices is one matrix. The function in between makes each neuron a condition.",
                correct=True,
            ),
            Option(
                "Each token would also read the vectors of the others",
                "The network would read more if it had no borders. But only attention reads other tokens; the network "
                "reads one token, with the function or without it.",
            ),
            Option(
                "Nothing, as training would find other weights",
                "Training would find other weights for both matrices. But their product is one matrix, whatever the "
                "weights are.",
            ),
        ),
        mixed=True,
    )
