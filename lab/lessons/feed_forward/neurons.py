"""Neurons and activation: two matrices, and why there is a function between them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.feed_forward import (
    Array,
    activation_name,
    active_on_words,
    bent,
    most_active,
    most_its_own,
    nearly_silent,
    silent,
)
from lab.course.words import named, quoted, signed, told_apart
from lab.figures.sublayers import TOKENS
from lab.lessons.feed_forward import LESSON, figures
from lab.lessons.feed_forward.changes import silent_for_words
from lab.lessons.feed_forward.projection import show_projection
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron, chosen_first_neuron, show_sentence
from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui import parameters
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.closing import meaning, try_this
from lab.ui.quiz.predictions import ask_beside
from lab.ui.terms import say

_BENT = -0.5  # a sum that both GELU and ReLU change; the neuron with the nearest sum shows what the function does
_HALF = 0.5
# What a neuron adds whose sum is below 0.
_BELOW = {
    "relu": "Below 0, it adds nothing.",
    "gelu": "Far below 0, it adds almost nothing. Just below 0, it takes away a little of its row.",
}
# The least sum above 0 of a neuron that is asked about: the function lets most of it through.
_CLEAR = 0.5


def why_bent(config: ModelConfig) -> str:
    """Say why there is a function between the two matrices: without it, one matrix would do."""
    name, square = activation_name(config.activation), f"{config.width:,} × {config.width:,}"
    gate = " and the gates" if config.gated else ""
    return (
        f"**Why not the straight line?** Without {name}{gate}, the two matrices could do no more than one matrix of "
        f"{square}, their product. {name} makes each neuron a condition. Above 0, it adds its row of $W_2$, times "
        f"its activation. {_BELOW['relu' if config.activation == 'relu' else 'gelu']}"
    )


def held_back(name: str, hidden: Array, active: Array) -> str:
    """Say how the function changes sums below and above 0 of the token called ``name``; both arrays are (d_ff,)."""
    below = hidden < 0
    if not below.any():
        return f"No sum is below 0 at {name}, so the function holds nothing back."
    means = [
        signed(float(values[which].mean())) for which in (below, ~below) for values in (hidden, active) if which.any()
    ]
    many = "Most" if below.mean() > _HALF else "Some"
    others = f". It changes the other {(~below).sum():,} sums from {means[2]} to {means[3]}" if len(means) > 2 else ""
    return (
        f"{many} neurons are held back at {name}: {below.sum():,} of {len(below):,} have a sum below 0. On average, "
        f"the function changes these sums from {means[0]} to {means[1]}{others}."
    )


def together(hidden: Array, active: Array, w_2: Array) -> str:
    """Compare what the neurons with sums below 0 add with what the others add; "" if either are none.

    ``hidden`` and ``active`` (d_ff,) are the sums and the activations of a token, ``w_2`` is (d_ff, d).
    """
    below = hidden < 0
    if not below.any() or below.all():
        return ""
    low, high = (float(np.linalg.norm(active[which] @ w_2[which])) for which in (below, ~below))
    if not low:
        return ""
    return (
        f"Each of the {below.sum():,} neurons below 0 does little, but together they add a vector of length {low:.2f}. "
        f"The other {(~below).sum():,} add one of length {high:.2f}."
    )


def active_neurons(trace: Trace, layer: int, token: int) -> str:
    """Say how many neurons a token excites, and whether other tokens share its most active neuron."""
    active = trace.layer(layer).ffn_activation
    best = active.argmax(dim=1)
    neuron, others = int(best[token]), int((best == best[token]).sum()) - 1
    if float(active[token].max()) <= 0:
        return f"No neuron of layer {layer + 1} has an activation above 0 at {told_apart(trace, token)}."
    alone = {0: "at no other token", 1: "at one other token, too"}.get(others, f"at {others} other tokens, too")
    most = float(active[token, neuron])
    near = int((active[:, neuron] > most / 2).sum())
    about = (
        "At every other token it is less than half as active"
        if near == 1
        else f"At {near} of {len(active)} tokens it is more than half as active"
        + (f", so it says little about {told_apart(trace, token)}" if near > len(active) / 2 else "")
    )
    return (
        f"At {told_apart(trace, token)}, {int((active[token] > 0).sum()):,} of {active.shape[1]:,} neurons have an "
        f"activation above 0. The most active one is neuron {neuron + 1:,}, with {most:.2f}. This neuron is the most "
        f"active one {alone}. {about}."
    )


@asks(
    "layer",
    "token",
    basis=derivable(LESSON, "neurons", "the curve of the function"),
    hint="Find both sums on the horizontal axis of the curve. Into which number does the curve turn each sum?",
    returns=3,
)
def which_adds_more(spot: Spot) -> Question | None:
    """Ask where a neuron adds more: where its sum is above 0, or where it is farther from 0, but below.

    None if the neurons have gates, or if no neuron has such sums at this token and at another one.
    """
    trace, layer, config = spot.trace, spot.traced, spot.trace.model.config
    found = None if config.gated else _two_sums(layer, spot.query)
    if found is None:
        return None
    neuron, other = found
    here, there = (float(layer.ffn_hidden[at, neuron]) for at in (spot.query, other))
    after = [float(layer.ffn_activation[at, neuron]) for at in (spot.query, other)]
    name = activation_name(config.activation)
    first, second = named(trace, spot.query), named(trace, other)
    why = f"{name} turns {signed(here)} into {signed(after[0])}, and it turns {signed(there)} into {signed(after[1])}."
    prompt = (
        f"The sum of neuron {neuron + 1:,} is {signed(here)} at {first} and {signed(there)} at {second}. The network "
        "multiplies the neuron’s row of W₂ by its activation, and adds the product to the token’s vector. At which "
        "token does the neuron add more?"
    )
    far = f"{signed(there)} is farther from 0, but the function holds back sums below 0. {why}"
    return shuffled(
        "which-adds-more",
        prompt,
        [
            Option(f"At {first}", why, correct=True),
            Option(f"At {second}", far),
            Option("The same at both: the row is the same", f"The row is the same, but its factor is not. {why}"),
        ],
    )


def _two_sums(layer: LayerTrace, token: int) -> tuple[int, int] | None:
    """A neuron whose sum is above 0 at ``token``, and another token at which its sum is farther from 0, but below."""
    sums, active = layer.ffn_hidden.numpy(), layer.ffn_activation.numpy()
    lowest = sums.argmin(axis=0)
    every = np.arange(sums.shape[1])
    farther = -sums[lowest, every] - sums[token]
    more = np.abs(active[token]) - np.abs(active[lowest, every])
    fits = (sums[token] > _CLEAR) & (farther > _CLEAR) & (more > MARGIN) & (lowest != token)
    if not fits.any():
        return None
    neuron = int(np.where(fits, sums[token], -np.inf).argmax())
    return neuron, int(lowest[neuron])


@asks(
    basis=derivable(LESSON, "neurons", "two matrices in a row do what one does"),
    hint="What happens to a vector that is multiplied by two matrices, one after the other?",
    returns=1,
)
def without_function(spot: Spot) -> Question | None:
    """Ask what is lost without the function between the two matrices; not asked if the neurons have gates."""
    config = spot.trace.model.config
    if config.gated:
        return None
    name = activation_name(config.activation)
    return shuffled(
        "without-function",
        f"Leave {name} out, so that each activation is the sum itself. What is lost?",
        [
            Option(
                f"The two matrices could do no more than one matrix of {config.width:,} × {config.width:,}",
                "The product of two matrices is one matrix. Only the function between them makes the many neurons "
                "useful.",
                correct=True,
            ),
            Option(
                "Each token would look at the other tokens",
                f"That would be attention. The network reads one token, with or without {name}.",
            ),
            Option(
                "Nothing: training would find other weights",
                "Other weights would give another product, and this product would be one matrix again.",
            ),
        ],
    )


def show(view: FeedForwardView) -> None:
    """Show the sums of a token's neurons, how the function turns the sums into activations, and what it is for."""
    show_sentence(view)
    sums = view.layer.ffn_hidden[view.token].numpy()
    if not parameters.NEURON.chosen():
        view = replace(view, neuron=int(np.abs(sums - _BENT).argmin()))
    name, config = activation_name(view.config.activation), view.config
    bias = ", plus a learned number, its bias" if config.biases else ""
    say(
        f"The network is two matrices. The first, $W_1$, makes {config.ffn_width:,} numbers from the {config.width:,} "
        f"numbers of {view.name}. The second, $W_2$, makes {config.width:,} numbers from these. Between the two "
        "matrices are the **neurons**. A neuron’s sum is the **dot product** of the token’s vector and one column of "
        f"$W_1${bias}. A function, **{name}**, turns the sum into the neuron’s **activation**. What is this function "
        "for?"
    )
    draw(view.figure(figures.activation), "activation")
    outputs = bent(view.layer, config.activation, view.token)
    hidden, active = float(sums[view.neuron]), float(outputs[view.neuron])
    st.caption(
        f"Each point on the curve is one neuron. The ring marks neuron {view.neuron + 1:,}: {signed(hidden, 3)} "
        f"becomes {signed(active, 3)}.{_gate_of(view)} On the dashed line, every sum would stay the same."
    )
    _show_silence(view)
    meaning(held_back(view.name, sums, outputs))
    say(why_bent(config))
    activations = view.layer.ffn_activation[view.token].numpy()
    if told := together(sums, activations, view.layer.weights.w_2.numpy()):
        st.caption(told)
    st.latex(r"(x\,W_1)\,W_2 = x\,(W_1 W_2)")
    ask_beside(LESSON, None if silent(view.layer) else which_adds_more(view.spot))
    choose_neuron(view)
    _show_more(view, name, hidden, active)
    code(forward.feed_forward, forward.activate, forward.gelu)


def _show_more(view: FeedForwardView, name: str, hidden: float, active: float) -> None:
    """Draw, behind clicks, the function ``name`` with the neuron's numbers, the neurons of all tokens, the way back."""
    with st.expander(f"{name}, written out", on_change="rerun", key="_written_out") as written:
        if written.open:
            _show_written_out(view, name, hidden, active)
    with st.expander("The neurons at every token", on_change="rerun", key="_every_token") as every:
        if every.open:
            _show_every_token(view)
    with st.expander(f"Back to {view.config.width:,} numbers", on_change="rerun", key="_back") as back:
        if back.open:
            show_projection(view)


def _show_written_out(view: FeedForwardView, name: str, hidden: float, active: float) -> None:
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
        "Far above 0, GELU hardly changes a number. Far below 0, it turns a number into almost 0. Its lowest value "
        "is −0.17, at −0.75."
    )


def _show_silence(view: FeedForwardView) -> None:
    """Say if the layer responds to nothing, or hardly responds to words."""
    shares = active_on_words(view.trace)
    said = silent_for_words(shares)
    if said is not None and view.layer.index in nearly_silent(shares):
        st.info(said, icon=":material/info:")
    if silent(view.layer):
        st.info(
            "All activations of this layer are 0, so its feed-forward network adds the same vector, of length "
            f"{view.layer.weights.b_2.norm():.2f}, to every token.",
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
    first, most = chosen_first_neuron(view, drawn), view.config.ffn_width
    with left:
        parameters.FIRST_NEURON.type_in("First neuron drawn", first + 1, most, parameters.NEURONS_DRAWN.default)
    columns = slice(first, min(first + drawn, most))
    with map_of_neurons:
        _show_neurons(view, columns)
    values = view.layer.ffn_activation
    say(
        f"{active_neurons(view.trace, view.layer.index, view.token)}\n\nOver the whole layer, "
        f"{float((values > 0).float().mean()):.0%} of the {values.numel():,} activations are above 0. "
        f"{_largest(view)} Click a cell to choose its token and neuron. In Python: "
        f"`trace.layer({view.layer.index}).ffn_activation`."
    )
    _show_others(view, columns)


def _largest(view: FeedForwardView) -> str:
    """Name the largest activation of the layer, which is often not at a word, and not among the neurons drawn."""
    values = view.layer.ffn_activation
    token, neuron = divmod(int(values.argmax()), values.shape[1])
    return f"The largest activation is {float(values.max()):.2f}: neuron {neuron + 1:,} at {named(view.trace, token)}."


def _show_others(view: FeedForwardView, columns: slice) -> None:
    """Offer a neuron that the token excites far more than any other token does; otherwise, the next neurons."""
    own, drawn = most_its_own(view.layer, view.token), columns.stop - columns.start
    if own is not None and own not in range(columns.start, columns.stop):
        why = f"a neuron that {view.name} excites at least twice as much as any other token does. Look down its column."
        first = own - own % drawn + 1
        try_this(why, f"Take neuron {own + 1:,}", {parameters.NEURON: own + 1, parameters.FIRST_NEURON: first})
    elif columns.stop < view.config.ffn_width or columns.start:
        first = columns.stop + 1 if columns.stop < view.config.ffn_width else 1
        why = f"other neurons. Which of them does {view.name} excite?"
        try_this(why, f"From neuron {first:,} on", {parameters.FIRST_NEURON: first})


def _show_neurons(view: FeedForwardView, columns: slice) -> None:
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
