"""Sublayers in figures: the change of the residual stream by each, and the movement of each layer by a mistake."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.heads.one_row import window
from lab.analysis.layers.run_with_mistake import Broken
from lab.analysis.layers.sublayers import SUBLAYERS, sublayer_changes
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.figures.choices import CHANGE_LENGTH
from lab.figures.trace_axes import tokens
from lab.models.trace import Trace

# The most tokens on a side of a map that has the whole width of the page.
TOKENS = 64

# Where the scale of lengths ends: a change three times as long as the vector. If one change is twenty times as
# long, the others are still seen.
_FAR = 3.0


def changes(traced: Trace, token: int, most: int = TOKENS) -> Heatmap:
    """Draw ‖Δ‖ / ‖x‖ of each sublayer; ``token`` is outlined.

    Of a long text, only the ``most`` tokens around ``token`` are drawn.
    """
    values = sublayer_changes(traced).relative
    layers, _, n = values.shape
    shown = window(token, n, most)
    names = [f"{layer + 1} {name}" for layer in range(layers) for name in SUBLAYERS]
    scale = Scale(CHANGE_LENGTH, (0.0, min(_FAR, float(values.max()))))
    axes, outlined = (Axis("Layer and sublayer", names), Axis("Token", traced.labels[shown])), token - shown.start
    drawn, title = values.reshape(-1, n)[:, shown], f"{CHANGE_LENGTH} of each sublayer"
    figure = heatmap(drawn, axes, scale, title=title, highlight=(None, outlined))
    return replace(figure, axes=(Axis("Sublayer", names, things="sublayers"), tokens(traced, shown=shown)))


def moved_by_layer(right: Trace, broken: Trace, layer: int) -> Figure:
    """Draw the distance between the residual streams of ``broken`` and ``right`` after each layer; ``layer`` is marked.

    Distances are shares of the vectors’ lengths, averaged over tokens.
    """
    moved = Broken(right, broken).moved
    title, share = "How far the vectors move after each layer, mean over tokens", Scale("Share of the vector’s length")
    return bars(streams(len(moved)), moved.mean(axis=1), share, title=title, highlight=layer + 1)


def streams(count: int) -> list[str]:
    """The labels of ``count`` hidden states: the output of the embeddings, then the output of each layer."""
    return ["embeddings", *(f"layer {layer}" for layer in range(1, count))]
