"""Residual and LayerNorm: why a layer adds to a vector, and how LayerNorm brings the sum to one scale."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.sublayers import NormSteps, layer_norms, norm_steps, sublayer_changes
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.slices import strips
from lab.course.words import signed
from lab.figures import sublayer_figures
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui.drawing import code, draw
from lab.ui.parameters import NORM
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say

IDEA = """
Attention and the network, the **sublayers** of a layer, do not replace the vector x of a token. Each computes a
vector Δ, and the layer goes on with x + Δ: a **residual connection**. Why?"""
CAPTION = "A cell is the length of Δ divided by the length of x."
WHY = """
The content that earlier layers wrote can go on in x.{counts} The sum also helps training (He et al. 2016)."""
NORMALIZES = """
**LayerNorm** brings the {width:,} numbers to one scale: mean 0, standard deviation 1. Then it multiplies each dimension
by a learned γ, so that some count more than others{shift}."""
SHIFT = ", and adds a learned β, so that a dimension can have another mean than 0"
NUMBER = """
One of its numbers, in dimension {dimension}, is {x}. Less the mean ({mean}), and divided by the deviation
({deviation}), it is {standard}. Times γ ({gamma}), plus β ({beta}), it becomes {output}."""
READING = """
In layer {layer}, attention adds to {token} a Δ {attention:.1f} times as long as the vector to which it is added,
and the network one {network:.1f} times as long. LayerNorm {where} brings the vector from length {before:.2f} to
{between:.2f} ≈ √{width}, which any vector of mean 0 and deviation 1 has; with γ and β, it is {after:.2f} long."""
WRITTEN = """ In layer 6, the Δ of the network is {times:.1f} times as long, and x seems lost. Yet it counts: leave x
out of this sum, and *paris* falls from {with_x:.2f} to {without:.2f}."""
PLACED = {
    False: "This model is **post-norm**, like BERT: LayerNorm comes after each sum. GPT-2 is **pre-norm**: only what a "
    "sublayer reads is normalized, and the sum may grow from layer to layer.",
    True: "This model is **pre-norm**: only what a sublayer reads is normalized, and the sum may grow from layer to "
    "layer. BERT is **post-norm**: LayerNorm comes after each sum.",
}
FIRST = " This first layer has no LayerNorm before attention: its input comes from the LayerNorm of the embeddings."


def show(view: FeedForwardView) -> None:
    """Draw how much each sublayer adds to each token, and what LayerNorm does to the sum."""
    say(IDEA)
    show_sentence(view)
    draw(partial(sublayer_figures.changes, view.trace, view.token), "changes")
    st.caption(CAPTION)
    say(WHY.format(counts=counts(view)))
    say(NORMALIZES.format(width=view.config.width, shift=SHIFT * view.config.biases))
    if not ask_beside(LESSON, scaled_input()):
        return
    layer = view.layer.index
    every = norms(view.trace, layer, view.token)
    where = NORM.chosen() if NORM.chosen() in every else next(iter(every))
    meaning(said(view, where, every[where]))
    say(one_number(every[where]))
    with st.expander("A vector through LayerNorm", on_change="rerun", key="_layer_norm") as whole:
        if whole.open:
            where = NORM.choose("Which LayerNorm", list(every))
            draw(partial(norm_stages, view.trace, layer, where, view.token), "layer-norm")
            say(PLACED[view.config.pre_norm] + FIRST * (view.layer.weights.norm_1 is None))
    code(forward.pre_norm_layer if view.config.pre_norm else forward.post_norm_layer, forward.layer_norm)


@asks(
    basis=derivable(LESSON, "residual", "what LayerNorm subtracts and divides by"),
    hint="What happens to the mean and the deviation if every number becomes ten times as large?",
)
def scaled_input() -> Question:
    """Ask how the output of LayerNorm changes if its input is ten times as long."""
    return Question(
        "scaled-input",
        "Multiply all numbers of a vector by 10 before LayerNorm. What comes out?",
        (
            Option(
                "Ten times as much as before",
                "The subtraction of the mean keeps the factor. But the division removes it: the deviation is ten times "
                "as large, too.",
            ),
            Option(
                "The old numbers, all moved by a constant",
                "The mean has moved, so this seems natural. But LayerNorm subtracts the whole mean, however large.",
            ),
            Option(
                "The same numbers as before",
                "Mean and deviation become ten times as large, too, and the factor cancels out.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "residual", "a layer adds to x"),
    hint="What does a head bring to a token?",
)
def without_sum() -> Question:
    """Ask what is lost if attention replaces the vector of a token."""
    return Question(
        "without-sum",
        "Suppose that attention replaced the vector of a token, and did not add to it. All heads look at other tokens. "
        "What is lost in this layer?",
        (
            Option(
                "Nothing, as LayerNorm brings the old vector back",
                "LayerNorm changes the scale of the numbers that it gets, so it looks like a repair. It never sees the "
                "old numbers.",
            ),
            Option(
                "Nothing, as a later layer can read the word again",
                "Each layer looks at tokens anew. But it reads the vectors of the layer before it, never the text.",
            ),
            Option(
                "What the vector said about its own token",
                "A head brings only what it has collected. The sum keeps what was there before.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def norms(traced: Trace, layer: int, token: int) -> dict[str, NormSteps]:
    """Return the LayerNorms of a layer at one token, written out, by their places: "after attention"."""
    return {
        where: norm_steps(vectors[token], norm, traced.model.config.norm_eps)
        for where, (vectors, norm) in layer_norms(traced.layer(layer)).items()
    }


def norm_stages(traced: Trace, layer: int, where: str, token: int) -> Heatmap:
    """Draw one vector through a LayerNorm, stage by stage; ``where`` is one of the names in :func:`norms`."""
    steps = norms(traced, layer, token)[where]
    shown = {name: vector for name, vector in steps.stages.items() if name != "input − mean"}
    title = f"LayerNorm {where}, layer {layer + 1}, token {traced.labels[token]}"
    return strips(list(shown.values()), list(shown), title=title, highlight=(None, farthest(steps)))


def farthest(steps: NormSteps) -> int:
    """Return the dimension, from 0, whose number is farthest from the mean."""
    return int(np.abs(steps.centred).argmax())


def without_x(trace: Trace, place: int) -> tuple[float, float]:
    """Return the probability of the best word at ``place``, and its probability with Δ alone in the last sum.

    For a post-norm model, whose last LayerNorm reads this sum.
    """
    model, last = trace.model, trace.layer(trace.model.config.layers - 1)
    alone = forward.layer_norm(last.ffn_output[place, None], last.weights.norm_2, model.config.norm_eps)
    (logits,) = forward.vocabulary_logits(alone, model.vocabulary_head, model.config)
    before = trace.logits(place)[0].double().softmax(-1)
    best = int(before.argmax())
    return float(before[best]), float(logits.double().softmax(-1)[best])


def counts(view: FeedForwardView) -> str:
    """Say, of the course's sentence, that x counts in the last sum; nothing of another one."""
    if not view.in_story:
        return ""
    _, network = sublayer_changes(view.trace).relative[view.layer.index, :, view.token]
    with_x, without = without_x(view.trace, view.token)
    return WRITTEN.format(times=network, with_x=with_x, without=without)


def written(value: float) -> str:
    """Write a number with four significant digits, so that the product of two small ones can be checked."""
    return signed(value, max(0, 3 - math.floor(math.log10(abs(value))))) if value else "0"


def one_number(steps: NormSteps) -> str:
    """Follow the number that is farthest from the mean through a LayerNorm."""
    at = farthest(steps)
    names = ("x", "standard", "gamma", "beta", "output")
    numbers = {name: written(float(getattr(steps, name)[at])) for name in names}
    return NUMBER.format(dimension=at + 1, mean=written(steps.mean), deviation=written(steps.deviation), **numbers)


def said(view: FeedForwardView, where: str, steps: NormSteps) -> str:
    """Say how long Δ is in both sublayers, and how long a LayerNorm makes the vector."""
    attention, network = sublayer_changes(view.trace).relative[view.layer.index, :, view.token]
    lengths = (float(np.linalg.norm(each)) for each in (steps.x, steps.standard, steps.output))
    before, between, after = lengths
    return READING.format(
        layer=view.number, token=view.name, attention=attention, network=network, where=where, before=before,
        between=between, after=after, width=view.config.width,
    )  # fmt: skip
