"""The forward pass with a mistake in it, and how far the output of each layer moves."""

from __future__ import annotations

from lab.analysis.layers.run_with_mistake import Broken
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.models.trace import Trace


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
