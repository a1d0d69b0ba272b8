"""The forward pass with a mistake in it: how far each layer's output moves."""

from __future__ import annotations

from lab.analysis.heads.ablation import Array
from lab.analysis.layers.mistakes import Broken
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.models.trace import Trace


def moved_by_layer(right: Trace, broken: Trace, layer: int) -> Figure:
    """How far the residual stream of ``broken`` is from that of ``right``, after each layer; ``layer`` is marked."""
    return moved_by_layer_of(Broken(right, broken).moved, layer)


def moved_by_layer_of(moved: Array, layer: int) -> Figure:
    """How far it moved, of ``moved`` (L+1, n), as shares of the vectors’ lengths; the mean over tokens."""
    return bars(
        _streams(len(moved)), moved.mean(axis=1), title="How far the residual stream moves, mean over tokens",
        value_title="Share of the vector’s length", highlight=layer + 1,
    )  # fmt: skip


def _streams(count: int) -> list[str]:
    return ["embeddings", *(f"layer {layer}" for layer in range(1, count))]
