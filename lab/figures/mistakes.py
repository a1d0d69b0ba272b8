"""The forward pass with a mistake in it: how far each layer's output moves."""

from __future__ import annotations

from lab.analysis.mistakes import Broken
from lab.charts.figure import Figure
from lab.figures.heads_off import moved_by_layer_of
from lab.models.trace import Trace


def moved_by_layer(right: Trace, broken: Trace, layer: int) -> Figure:
    """How far the residual stream of ``broken`` is from that of ``right``, after each layer; ``layer`` is marked."""
    return moved_by_layer_of(Broken(right, broken).moved, layer)
