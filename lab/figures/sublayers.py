"""How much each sublayer changes the residual stream, token by token."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lab.analysis.heads.attention import heaviest, window
from lab.analysis.layers.sublayers import SUBLAYERS, sublayer_changes
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.figures.attention import BARS
from lab.figures.axes import tokens
from lab.figures.choices import CHANGE_COSINE, CHANGE_LENGTH
from lab.models.trace import Trace

# The most tokens on a side of a map that has the whole width of the page.
TOKENS = 64

# Where the scale of lengths ends: a change three times as long as the vector. If one change is twenty times as
# long, the others are still seen.
_FAR = 3.0


def changes(traced: Trace, measure: str, token: int, most: int = TOKENS) -> Heatmap:
    """Draw the changes by each sublayer, as ``CHANGE_LENGTH`` or ``CHANGE_COSINE``; ``token`` is outlined.

    Of a long text, only the ``most`` tokens around ``token`` are drawn.
    """
    found = sublayer_changes(traced)
    values = found.cosine if measure == CHANGE_COSINE else found.relative
    layers, _, n = values.shape
    shown = window(token, n, most)
    names = [f"{layer + 1} {name}" for layer in range(layers) for name in SUBLAYERS]
    if measure == CHANGE_COSINE:
        scale = Scale(measure, (-1.0, 1.0), signed=True)
    else:
        scale = Scale(measure, (0.0, min(_FAR, float(values.max()))))
    axes, outlined = (Axis("Layer and sublayer", names), Axis("Token", traced.labels[shown])), token - shown.start
    drawn, title = values.reshape(-1, n)[:, shown], f"{measure} of each sublayer"
    figure = heatmap(drawn, axes, scale, title=title, highlight=(None, outlined))
    return replace(figure, axes=(Axis("Sublayer", names, things="sublayers"), tokens(traced, shown=shown)))


def changes_by_token(traced: Trace, layer: int, sublayer: int, token: int) -> Figure:
    """Draw ‖Δ‖ / ‖x‖ of one sublayer for each token; ``token`` is in full colour. Layer and sublayer count from 0.

    Of a long text, only ``token`` and the tokens with the largest values are drawn.
    """
    values, n = sublayer_changes(traced).relative[layer, sublayer], len(traced)
    shown = sorted(heaviest(values.astype(np.float32), token, min(n, BARS)))
    part = "" if n <= BARS else f", {len(shown)} of {n} tokens"
    labels = [f"{i + 1} {traced.labels[i]}" for i in shown]
    title = f"{SUBLAYERS[sublayer].capitalize()} of layer {layer + 1}{part}"
    return bars(labels, values[shown], Scale(CHANGE_LENGTH), title=title, highlight=shown.index(token))
