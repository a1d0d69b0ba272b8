"""Residual and LayerNorm: how long the vectors are that a layer adds, and how LayerNorm brings the sum to one scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.sublayers import NormSteps, sublayer_changes
from lab.course.words import named, signed, told_apart
from lab.figures import sublayers
from lab.figures.choices import CHANGE_LENGTH
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.by_layer import show_by_layer
from lab.lessons.feed_forward.by_token import show_by_token
from lab.lessons.feed_forward.changes import RIGHT_ANGLE, SUBLAYER_NAMES, most_added
from lab.lessons.feed_forward.figures import shown
from lab.lessons.feed_forward.layer_norm import norms, one_scale, show_norm
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import ranked
from lab.questions.question import Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.parameters import RESIDUAL
from lab.ui.quiz.predictions import ask_beside
from lab.ui.terms import say

IDEA = """
A sublayer adds a vector Δ to the vector x of a token. The next part reads x + Δ. This is a **residual connection**.
How much of x is left in the sum? That depends on how long Δ is compared with x."""


@dataclass(frozen=True)
class Longest:
    """The row of the map in which Δ is longest compared with x, by the median over the tokens.

    Attributes
    ----------
    layer, sublayer
        The row: both count from 0.
    low, high
        The least and the largest ‖Δ‖ / ‖x‖ in this row.
    cosines
        The least and the largest cosine of x and x + Δ in this row.
    others
        The least and the largest median of the other rows.
    """

    layer: int
    sublayer: int
    low: float
    high: float
    cosines: tuple[float, float]
    others: tuple[float, float]


def longest(trace: Trace) -> Longest:
    """Find the row of the map in which Δ is longest compared with x."""
    found = sublayer_changes(trace)
    medians = np.median(found.relative, axis=-1)
    layer, sublayer = (int(each) for each in np.unravel_index(int(medians.argmax()), medians.shape))
    row, cosines = found.relative[layer, sublayer], found.cosine[layer, sublayer]
    others = np.delete(medians.ravel(), layer * medians.shape[1] + sublayer)
    return Longest(
        layer,
        sublayer,
        float(row.min()),
        float(row.max()),
        (float(cosines.min()), float(cosines.max())),
        (float(others.min()), float(others.max())),
    )


def said(found: Longest) -> str:
    """Say where Δ is longest, what this leaves of the old direction, and how long Δ is in the other rows."""
    name = SUBLAYER_NAMES[found.sublayer]
    length = _range(f"{found.low:.1f}", f"{found.high:.1f}")
    cosine = _range(*(signed(each) for each in found.cosines))
    if max(map(abs, found.cosines)) < RIGHT_ANGLE:
        left = f"x goes on in the sum, but Δ is so long that the sum points elsewhere (cosine with x: {cosine})"
    elif found.cosines[0] > 1 - RIGHT_ANGLE:
        left = f"the direction of x hardly changes (cosine {cosine})"
    else:
        left = f"x + Δ points another way than x (cosine {cosine})"
    return (
        f"In layer {found.layer + 1}, the vectors that {name} adds are {length} times as long as x: {left}. In the "
        f"other rows of the map, Δ is typically {_range(*(f'{each:.1f}' for each in found.others))} times as long as x."
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def placed(trace: Trace, token: int) -> str:
    """Say where this model has its LayerNorm, and what this means for the lengths of a token's vector."""
    first, last = (float(trace.hidden_states[at][token].norm()) for at in (0, -1))
    if trace.model.config.pre_norm:
        return (
            f"This model is **pre-norm**. The sum itself is never normalized inside the layers: the vector of "
            f"{told_apart(trace, token)} is {first:.2f} long before layer 1, and {last:.2f} after the last layer. The "
            "original transformer and BERT are **post-norm**: they normalize each sum."
        )
    return (
        "This model is **post-norm**, like the original transformer and BERT: each sum is normalized. GPT-2 and most "
        "newer models are **pre-norm**: only what a sublayer reads is normalized, and the sum itself may grow from "
        "layer to layer. Pre-norm models are easier to train (Xiong et al. 2020)."
    )


@asks(
    "layer",
    "token",
    basis=derivable(LESSON, "residual", "what LayerNorm subtracts and divides by"),
    hint="What happens to the mean and the spread if every number becomes ten times as large?",
    returns=1,
)
def scaled_input(spot: Spot) -> Question | None:
    """Ask how the output of LayerNorm changes if its input is ten times as long."""
    steps = list(norms(spot.trace, spot.layer, spot.query).values())[-1]
    return times_ten(steps)


def times_ten(steps: NormSteps) -> Question | None:
    """Ask as :func:`scaled_input` does; None where ε counts, or where all numbers are equal."""
    moved = float(np.abs(steps.of(10).output - steps.output).max())
    if moved >= 1e-3 or not steps.centred.any():
        return None  # ε is not small compared with this variance, or all numbers are equal
    why = (
        f"The mean and the spread also become ten times as large and cancel out: no number changes by {_above(moved)}."
    )
    return shuffled(
        "scaled-input",
        "Multiply all numbers of a vector by 10 before LayerNorm. What comes out?",
        (
            Option("The same as before", why, correct=True),
            Option("Ten times as much", f"You forgot the division, which removes the factor. {why}"),
            Option(
                "The same numbers, moved by a constant",
                f"LayerNorm subtracts the whole mean, however large it is. {why}",
            ),
        ),
    )


def _above(number: float) -> str:
    return "more than 1e-9" if number < 1e-9 else f"more than {number * 1.01:.0e}"


@asks("layer", basis=derivable(LESSON, "residual", "the map of lengths"), for_a_class=True)
def most_changed(spot: Spot) -> Question | None:
    """Ask to which token the feed-forward network of a layer adds the longest vector, relative to the token's own."""
    trace, layer = spot.trace, spot.layer
    values = sublayer_changes(trace).relative[layer, 1].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the largest value in this text." if place == best else f"; the largest value is {values[best]:.3f}."
        return f"‖Δ‖ / ‖x‖ is {values[place]:.3f}{tail}"

    prompt = f"For which token is ‖Δ‖ / ‖x‖ of the feed-forward network in layer {layer + 1} largest?"
    return ranked("most-changed", prompt, values, lambda place: named(trace, place), why, of=trace.labels)


@asks(
    "token",
    basis=derivable(LESSON, "residual", "a sublayer adds to x"),
    hint="What does a head bring to a token?",
    returns=2,
)
def without_sum(spot: Spot) -> Question:
    """Ask what is lost if attention replaces the vector of a token."""
    name = told_apart(spot.trace, spot.query)
    return shuffled(
        "without-sum",
        f"Suppose that attention replaced the vector of {name} instead of adding to it. What would be lost if all "
        "heads looked only at another token?",
        [
            Option(
                f"What the vector said about {name}",
                "A head brings only what it has collected. The sum keeps what was there before.",
                correct=True,
            ),
            Option(
                "Nothing: LayerNorm brings the old vector back",
                "LayerNorm shifts and stretches the numbers that it gets. It does not know the old numbers.",
            ),
            Option(
                "Nothing: a later layer can look at the word again",
                "A later layer reads what this layer has written. It cannot go back to the word.",
            ),
        ],
    )


def show(view: FeedForwardView) -> None:
    """Draw how much each sublayer adds to each token; show what LayerNorm does to the sum, and where it is."""
    idea(IDEA)
    show_sentence(view)
    draw(partial(sublayers.changes, view.trace, CHANGE_LENGTH, view.token), "changes")
    n, tokens = len(view.trace), shown(view.trace, view.token)
    part = f" The map shows tokens {tokens.start + 1} to {tokens.stop} of {n}." * (n > sublayers.TOKENS)
    st.caption(f"Each cell is the length of Δ divided by the length of x. {most_added(view.trace)}{part}")
    meaning(said(longest(view.trace)))
    say(
        "So the sum can be short or long. **LayerNorm** brings all sums to one scale. It subtracts the mean from the "
        "numbers of a vector and divides them by their standard deviation. Then it scales each number by a learned γ"
        + (" and shifts it by a learned β." if view.config.biases else ".")
    )
    where, steps = list(norms(view.trace, view.layer.index, view.token).items())[-1]
    say(one_scale(view.layer.index, where, steps))
    ask_beside(LESSON, scaled_input(view.spot))
    st.latex(
        r"\begin{aligned} & \text{post-norm:} \\ & x \leftarrow \text{LayerNorm}(x + \text{Sublayer}(x)) \\ "
        r"& \text{pre-norm:} \\ & x \leftarrow x + \text{Sublayer}(\text{LayerNorm}(x)) \end{aligned}"
    )
    say(placed(view.trace, view.token))
    _show_more(view)
    code(forward.pre_norm_layer if view.config.pre_norm else forward.post_norm_layer, forward.layer_norm)


def _show_more(view: FeedForwardView) -> None:
    """Draw, behind clicks, one layer token by token, one token from layer to layer, and one LayerNorm in numbers."""
    with st.expander(f"Layer {view.layer.index + 1}, token by token", on_change="rerun", key="_by_token") as by_token:
        if by_token.open:
            show_by_token(view)
    turned = RESIDUAL.chosen() != CHANGE_LENGTH
    title = f"{view.name}, layer by layer"
    with st.expander(title, expanded=turned, on_change="rerun", key="_by_layer") as by_layer:
        if by_layer.open:
            show_by_layer(view)
    with st.expander("LayerNorm, number by number", on_change="rerun", key="_normalized") as normalized:
        if normalized.open:
            show_norm(view)
