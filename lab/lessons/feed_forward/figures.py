"""The feed-forward network: its neurons over a text, its output, and the function of a neuron."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.attention import window
from lab.analysis.layers import feed_forward
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.activations import ACTIVATION, activations
from lab.charts.cells.heatmap import Heatmap
from lab.charts.marks.bars import bars
from lab.charts.marks.curve import curve
from lab.figures.sublayers import TOKENS
from lab.models.trace import Trace

MOST_ACTIVE = 10
# Where the straight line begins that the non-linearity is compared with: far below 0 it would flatten the curve.
STRAIGHT_FROM = -1.5
PROJECTED = 48  # dimensions drawn in a map of the network's output


def shown(traced: Trace, token: int) -> slice:
    """The tokens drawn in a heatmap: all tokens of a short text, or the tokens around ``token`` in a long text."""
    return window(token, len(traced), TOKENS)


def neurons(traced: Trace, layer: int, first: int, end: int, token: int = 0, neuron: int = 0) -> Heatmap:
    """Draw the activations of the neurons ``first`` to before ``end`` of a layer; rows are tokens.

    The row of ``token`` is outlined, and so is the cell of ``neuron`` in it if that neuron is drawn.
    """
    rows = shown(traced, token)
    values = traced.layer(layer).ffn_activation[rows, first:end].numpy()
    title = f"Activations of neurons {first + 1:,} to {end:,}, layer {layer + 1}"
    outlined = token - rows.start, neuron - first if first <= neuron < end else None
    columns = ("Neuron", first + 1)
    return activations(values, traced.labels[rows], title=title, columns=columns, highlight=outlined)


def projection(traced: Trace, layer: int, first: int, end: int, token: int = 0) -> Heatmap:
    """Draw the output of the feed-forward network, dimensions ``first`` to before ``end``; rows are tokens.

    The row of ``token`` is outlined. The scale of colours covers 99 of 100 numbers of the layer: a few numbers, mostly
    of special tokens, are so large that all others would look alike.
    """
    rows, output = shown(traced, token), traced.layer(layer).ffn_output.numpy()
    values, end_of_colours = output[rows, first:end], float(np.quantile(np.abs(output), 0.99)) or 1.0
    title = f"Output of the network: dimensions {first + 1:,} to {end:,}, layer {layer + 1}"
    scale = Scale("Number", (-end_of_colours, end_of_colours), signed=True)
    outlined = token - rows.start, None
    columns = ("Dimension", first + 1)
    return activations(values, traced.labels[rows], scale, title=title, columns=columns, highlight=outlined)


def activation(traced: Trace, layer: int, token: int, neuron: int) -> Figure:
    """Draw the non-linearity with a point for each neuron of a layer at ``token``; ``neuron`` has a ring.

    A dashed line is drawn for no function at all, where each activation would be the sum itself.
    """
    of, name = traced.layer(layer), traced.model.config.activation
    hidden, active = of.ffn_hidden[token].numpy(), feed_forward.bent(of, name, token)
    low, high = min(-4.0, float(hidden.min())), max(4.0, float(hidden.max()))
    at = f"the {len(hidden):,} neurons of {traced.labels[token]}, layer {layer + 1}"
    bent = "Activation" if of.ffn_gate is None else "Before the gate"
    title, titles = f"{feed_forward.activation_name(name)} at {at}", ("Sum", bent, "Neuron")
    straight = (max(low, STRAIGHT_FROM), high)
    drawn = feed_forward.curve(name, low, high)
    return curve(drawn, (hidden, active), titles, title=title, highlight=neuron, other=(straight, straight))


def most_active(traced: Trace, layer: int, token: int, neuron: int | None = None) -> Figure:
    """Draw the neurons of a layer that ``token`` excites most; ``neuron`` is marked if it is among these."""
    of = traced.layer(layer)
    best = feed_forward.most_active(of, token, MOST_ACTIVE)
    names, values = [f"neuron {i + 1}" for i in best], of.ffn_activation[token].numpy()[best]
    title = f"The {len(best)} most active neurons of {traced.labels[token]}, layer {layer + 1}"
    marked = best.index(neuron) if neuron is not None and neuron in best else None
    return bars(names, values, ACTIVATION, title=title, highlight=marked)
