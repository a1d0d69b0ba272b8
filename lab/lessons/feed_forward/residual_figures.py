"""The residual stream: how much both sublayers change one token, and one LayerNorm from a vector to its output."""

from __future__ import annotations

from lab.analysis.layers.sublayers import (
    SUBLAYERS,
    NormSteps,
    changes_untrained,
    layer_norms,
    norm_steps,
    sublayer_changes,
)
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import strips
from lab.charts.marks.bars import columns
from lab.charts.marks.lines import lines
from lab.figures.choices import CHANGE_COSINE
from lab.models.trace import Trace


def changes_of_token(traced: Trace, measure: str, token: int, seed: int | None = None) -> Figure:
    """Draw how much both sublayers change one token, from layer to layer.

    With a ``seed``, also draw the changes in :func:`lab.models.twin.random_twin`, the model with random weights.
    """
    every = {"": sublayer_changes(traced)}
    if seed is not None:
        every[", random"] = changes_untrained(traced, seed)
    values = {
        f"{name}{whose}": (of.cosine if measure == CHANGE_COSINE else of.relative)[:, at, token]
        for whose, of in every.items()
        for at, name in enumerate(SUBLAYERS)
    }
    log = measure != CHANGE_COSINE and all(line.min() > 0 for line in values.values())
    title = f"{measure} at {traced.labels[token]}, layer by layer{' (log scale)' if log else ''}"
    return lines(values, AxisPlaces("Layer"), Scale(measure), title=title, log=log)


def norms(traced: Trace, layer: int, token: int) -> dict[str, NormSteps]:
    """Return the two LayerNorms of a layer at one token, written out, by their places: "after attention"."""
    return {
        where: norm_steps(vectors[token], norm, traced.model.config.norm_eps)
        for where, (vectors, norm) in layer_norms(traced.layer(layer)).items()
    }


def norm_stages(traced: Trace, layer: int, where: str, token: int, dimension: int) -> Heatmap:
    """Draw one vector through a LayerNorm, stage by stage; ``where`` is one of the names in :func:`norms`."""
    stages = {name: vector for name, vector in norms(traced, layer, token)[where].stages.items() if name != "x − mean"}
    title = f"LayerNorm {where}, layer {layer + 1}, token {traced.labels[token]}"
    return strips(list(stages.values()), list(stages), title=title, highlight=(None, dimension))


def gain(traced: Trace, layer: int, where: str, dimension: int) -> Figure:
    """Draw γ of a LayerNorm over the dimensions; γ belongs to the model, not to the text."""
    gamma = norms(traced, layer, 0)[where].gamma
    return columns(gamma, Scale("γ"), title=f"γ of the LayerNorm {where}, layer {layer + 1}", highlight=dimension)
