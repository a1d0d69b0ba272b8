"""The forward pass with a mistake in it: how far each layer's output moves."""

from __future__ import annotations

from lab.analysis.layers.mistakes import Broken
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.models.trace import Trace


def moved_by_layer(right: Trace, broken: Trace, layer: int) -> Figure:
    """How far the residual stream of ``broken`` is from that of ``right``, after each layer; ``layer`` is marked.

    As shares of the vectors’ lengths; the mean over tokens.
    """
    moved = Broken(right, broken).moved
    return bars(
        streams(len(moved)), moved.mean(axis=1), title="How far the residual stream moves, mean over tokens",
        value_title="Share of the vector’s length", highlight=layer + 1,
    )  # fmt: skip


def streams(count: int) -> list[str]:
    """Labels of ``count`` hidden states: the embeddings' output, then each layer's."""
    return ["embeddings", *(f"layer {layer}" for layer in range(1, count))]
