"""LayerNorm, number by number: one vector of a layer on its way to mean 0 and variance 1, then through γ and β."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.layers.sublayers import NormSteps, layer_norms, norm_steps
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import strips
from lab.charts.marks.bars import columns
from lab.course.words import VISIBLE, signed
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models.trace import Trace
from lab.ui import selection
from lab.ui.drawing import draw
from lab.ui.parameters import DIMENSION, NORM
from lab.ui.tables import show_table
from lab.ui.terms import say


def norms(traced: Trace, layer: int, token: int) -> dict[str, NormSteps]:
    """Return the two LayerNorms of a layer at one token, written out, by their places: "after attention"."""
    return {
        where: norm_steps(vectors[token], norm, traced.model.config.norm_eps)
        for where, (vectors, norm) in layer_norms(traced.layer(layer)).items()
    }


def norm_stages(traced: Trace, layer: int, where: str, token: int, dimension: int) -> Heatmap:
    """Draw one vector through a LayerNorm, stage by stage; ``where`` is one of the names in :func:`norms`."""
    stages = {name: vector for name, vector in norms(traced, layer, token)[where].stages.items() if name != "x − mean"}
    title = f"LayerNorm {where}, layer {layer + 1}, token {traced.labels[token]}"
    return strips(list(stages.values()), list(stages), title=title, highlight=(None, dimension))


def gain(traced: Trace, layer: int, where: str, dimension: int) -> Figure:
    """Draw γ of a LayerNorm over the dimensions; γ belongs to the model, not to the text."""
    gamma = norms(traced, layer, 0)[where].gamma
    return columns(gamma, Scale("γ"), title=f"γ of the LayerNorm {where}, layer {layer + 1}", highlight=dimension)


def one_scale(layer: int, where: str, steps: NormSteps) -> str:
    """Say how long a LayerNorm makes a vector, before γ and β and after them."""
    first, between, last = (float(np.linalg.norm(each)) for each in (steps.x, steps.standard, steps.output))
    scaled = "the learned scale and shift make it" if steps.beta.any() else "the learned scale makes it"
    return (
        f"In layer {layer + 1}, LayerNorm {where} first changes the length of this vector from {first:.2f} to "
        f"√{len(steps.x)} ≈ {between:.2f}, because its {len(steps.x)} numbers then have the spread 1. Then {scaled} "
        f"{last:.2f}."
    )


def normalized(where: str, steps: NormSteps) -> str:
    """Say how the length of one vector changes in a LayerNorm, before and after γ and β."""
    first, between, last = (float(np.linalg.norm(each)) for each in (steps.x, steps.standard, steps.output))
    root = math.sqrt(len(steps.x))
    size = (
        f"√{len(steps.x)} = {root:.2f}, like the vector of every other token: {len(steps.x)} numbers with mean 0 and "
        "variance 1 have this length"
        if root - between < VISIBLE
        else f"{between:.2f}, which is less than √{len(steps.x)}, because ε matters when the variance is so small"
    )
    return (
        f"The LayerNorm {where} reads a vector of the length {first:.2f}. Before γ is applied, the vector has the "
        f"length {size}. γ and β then make it {'longer' if last > between else 'shorter'}, {last:.2f}."
    )


def show_norm(view: FeedForwardView) -> None:
    """Show one LayerNorm at one token: mean 0, variance 1, then γ and β."""
    every = norms(view.trace, view.layer.index, view.token)
    _show_places(view)
    where = NORM.choose("Which LayerNorm", list(every))
    steps = every[where]
    dimension = _choose_dimension(view, steps)
    _show_stages(view, steps, where, dimension)
    say(normalized(where, steps))
    _show_gain(view, steps, where, dimension)
    say(
        "Why normalize? It gives every layer numbers on one scale, and training becomes stable (Ba et al. 2016). If "
        "LayerNorm comes before a sublayer, the first corrections of training do not grow too large (Xiong et al. "
        "2020)."
    )


def _show_places(view: FeedForwardView) -> None:
    """Write where this layer has LayerNorm: after each sum, or before each sublayer."""
    sums = []
    for sublayer, norm in (
        (r"\text{Attention}", view.layer.weights.norm_1),
        (r"\text{FFN}", view.layer.weights.norm_2),
    ):
        normed = r"\text{LayerNorm}(x)" if norm is not None else "x"
        sums.append(f"x + {sublayer}({normed})" if view.config.pre_norm else rf"\text{{LayerNorm}}(x + {sublayer}(x))")
    st.latex(r"\begin{aligned} " + r" \\ ".join(rf"x & \leftarrow {each}" for each in sums) + r" \end{aligned}")


def _choose_dimension(view: FeedForwardView, steps: NormSteps) -> int:
    """The dimension to follow, from 0: the one in the link, otherwise the one furthest from the mean."""
    asked = selection.fit_place(DIMENSION, len(steps.x), "The vector")
    chosen = asked or int(np.abs(steps.centred).argmax()) + 1
    DIMENSION.type_in(f"Dimension, 1 to {len(steps.x):,}", chosen, len(steps.x))
    return chosen - 1


def _show_stages(view: FeedForwardView, steps: NormSteps, where: str, dimension: int) -> None:
    stages = steps.stages
    draw(partial(norm_stages, view.trace, view.layer.index, where, view.token, dimension), "layer-norm")
    table = pd.DataFrame(
        {
            "stage": list(stages),
            "mean": [float(vector.mean()) for vector in stages.values()],
            "variance": [float(vector.var()) for vector in stages.values()],
            "smallest": [float(vector.min()) for vector in stages.values()],
            "largest": [float(vector.max()) for vector in stages.values()],
            f"dimension {dimension + 1}": [float(vector[dimension]) for vector in stages.values()],
        }
    )
    table["mean"] = table["mean"].mask(table["mean"].abs() < 0.00005, 0.0)  # no −0.0000
    numbers = dict.fromkeys(table.columns[1:], "%.4f")
    show_table(table, formats=numbers)
    st.latex(_written_out(steps, dimension))
    say(
        f"ε is {steps.eps:g}. It only keeps the root from being 0. After the division the mean is 0 and the variance "
        f"is {steps.standard.var():.4f}. Without ε it would be exactly 1. Then γ multiplies each dimension"
        + (
            " and β shifts it, with separate numbers for each dimension."
            if view.config.biases
            else " by its own number. This model has no β, so 0 is added."
        )
    )


def _written_out(steps: NormSteps, dimension: int) -> str:
    x, gamma, beta = (float(v[dimension]) for v in (steps.x, steps.gamma, steps.beta))
    return (
        rf"\begin{{aligned}} y_{{{dimension + 1}}} &= \gamma\,\frac{{x - \text{{mean}}}}"
        r"{\sqrt{\text{variance} + \varepsilon}} + \beta \\[4pt] "
        rf"&= {gamma:z.4f} \cdot \frac{{{x:z.4f} {-steps.mean:+z.4f}}}{{{steps.deviation:.4f}}} \\ "
        rf"& \quad {beta:+z.4f} \\[4pt] "
        rf"&= {steps.output[dimension]:z.4f} \end{{aligned}}"
    )


def _show_gain(view: FeedForwardView, steps: NormSteps, where: str, dimension: int) -> None:
    """Draw γ over the dimensions; γ belongs to the model, not to the text."""
    gamma, beta = steps.gamma, steps.beta
    draw(partial(gain, view.trace, view.layer.index, where, dimension), "gamma")
    shifted = view.config.biases
    shift = f", β from {signed(beta.min(), 3)} to {signed(beta.max(), 3)}" if shifted else ""
    say(
        f"γ runs from {signed(gamma.min(), 3)} to {signed(gamma.max(), 3)} (largest in dimension "
        f"{int(gamma.argmax()) + 1}){shift}. {'Both are' if shifted else 'γ is'} the same for every token and every "
        "text."
    )
