"""Heads that park their attention, and the effect of switching each of them off."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.parked import effect_sizes, parked_share
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.scatter import scatter
from lab.figures.attention import place as place_of
from lab.figures.axes import layers_and_heads
from lab.models.trace import Trace


def parked_and_worth(traced: Trace, layer: int, head: int, to_mean: bool = False) -> Figure:
    """Draw the parked share of every head against the change without the head; ``head`` of ``layer`` has a ring.

    The change is the distance that the last layer's vectors move, as a share of their length. The dashed line is the
    median share: half of the heads park more.
    """
    shares, effects = parked_share(traced), effect_sizes(traced, None, None, to_mean)
    heads = shares.shape[1]
    names = [place_of(*divmod(at, heads)) for at in range(shares.size)]
    scales = (
        Scale("Share of attention parked", (0.0, 1.0), ".2f"),
        Scale("Movement of the last vectors without the head", format=".2f"),
    )
    title = "What a head parks, and what changes without it"
    points = shares.ravel(), effects.ravel()
    return scatter(names, points, scales, title=title, rule=float(np.median(shares)), highlight=layer * heads + head)


def parked_shares(traced: Trace, layer: int, head: int) -> Heatmap:
    """Draw the parked share of every head; ``head`` of ``layer`` is outlined."""
    share, scale = parked_share(traced), Scale("Share of attention parked", (0.0, 1.0), ".2f")
    return heatmap(share, layers_and_heads(share), scale, title="What each head parks", highlight=(layer, head))
