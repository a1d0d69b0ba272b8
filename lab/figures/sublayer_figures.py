"""How much each sublayer changes the residual stream, token by token."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.heads.one_row import window
from lab.analysis.layers.sublayers import SUBLAYERS, sublayer_changes
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
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
