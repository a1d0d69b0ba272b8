"""The neurons of a feed-forward network: their activations over a text, and the function of a neuron."""

from __future__ import annotations

from lab.analysis.heads.one_row import window
from lab.analysis.layers import feed_forward
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.slices import activations
from lab.charts.marks.curve import curve
from lab.figures.sublayer_figures import TOKENS
from lab.models.trace import Trace

# Where the straight line begins that the non-linearity is compared with: far below 0 it would flatten the curve.
STRAIGHT_FROM = -1.5
DRAWN = 96  # neurons drawn in a map


def neurons(traced: Trace, layer: int, token: int, neuron: int) -> Heatmap:
    """Draw the activations of the neurons around ``neuron``; rows are tokens, in a long text those around ``token``."""
    rows, of = window(token, len(traced), TOKENS), traced.layer(layer).ffn_activation
    columns = window(neuron, of.shape[1], DRAWN)
    title = f"Activations of neurons {columns.start + 1:,} to {columns.stop:,}, layer {layer + 1}"
    cell = token - rows.start, neuron - columns.start
    named = ("Neuron", columns.start + 1)
    return activations(of[rows, columns].numpy(), traced.labels[rows], title=title, columns=named, highlight=cell)


def activation(traced: Trace, layer: int, token: int, neuron: int) -> Figure:
    """Draw the non-linearity with a point for each neuron of a layer at ``token``; ``neuron`` has a ring.

    A dashed line is drawn for no function at all, where each activation would be the sum itself.
    """
    of, name = traced.layer(layer), traced.model.config.activation
    hidden, active = of.ffn_hidden[token].numpy(), feed_forward.bent(of, name, token)
    low, high = min(-4.0, float(hidden.min())), max(4.0, float(hidden.max()))
    at = f"the {len(hidden):,} neurons of {traced.labels[token]}, layer {layer + 1}"
    title = f"{feed_forward.activation_name(name)} at {at}"
    titles = ("Sum", "Activation" if of.ffn_gate is None else "Before the gate", "Neuron")
    straight = (max(low, STRAIGHT_FROM), high)
    drawn = feed_forward.curve(name, low, high)
    return curve(drawn, (hidden, active), titles, title=title, highlight=neuron, other=(straight, straight))
