"""Attention metrics: one metric for every head, and how it depends on the length of the text.

A metric is named by its id in :data:`lab.analysis.heads.metrics.METRICS`; ``threshold`` is the τ of raw sparsity.
"""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.heads.metrics import LENGTHS, METRICS, Metric, trace_metrics, uniform_by_length
from lab.analysis.heads.values import is_causal
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import marked_lines
from lab.figures.trace_axes import layers_and_heads
from lab.models.trace import Trace

_BY_ID = {metric.id: metric for metric in METRICS}


def label(metric: Metric, corrected: bool, threshold: float) -> str:
    """The name of a metric in titles: "Sparsity, raw (τ = 0.01)"."""
    tau = f" (τ = {threshold:g})" if metric.uses_threshold and not corrected else ""
    return f"{metric.name}, {'corrected' if corrected else 'raw'}{tau}"


def unit(metric: Metric, corrected: bool) -> str:
    """The unit of a metric's values."""
    return (corrected and metric.corrected_unit) or metric.unit


def _scale(metric: Metric, corrected: bool, value_format: str = ".3f") -> Scale:
    return Scale(unit(metric, corrected).capitalize(), format=value_format)


def all_heads(
    traced: Trace, metric: str, layer: int, head: int, corrected: bool = False, threshold: float = 0.01
) -> Heatmap:
    """Draw a metric for every head of the model; one head is outlined.

    Raises ValueError if the metric is corrected for rows without a choice, and the text has no other rows.
    """
    values, what = trace_metrics(traced, threshold).values(metric, corrected), _BY_ID[metric]
    axes, scale = layers_and_heads(values), _scale(what, corrected, ".2f")
    title = what.name if corrected else label(what, corrected, threshold)
    return heatmap(values, axes, scale, title=title, highlight=(layer, head))


def by_length(
    traced: Trace, metric: str, layer: int, head: int, corrected: bool = False, threshold: float = 0.01
) -> Figure:
    """Draw a metric for a head without preference on texts of many lengths, beside one head on this text.

    Raw spread has a logarithmic scale, because it grows with every token: on a linear scale, short texts would look
    like 0.

    Raises the errors of :func:`all_heads`.
    """
    own = float(trace_metrics(traced, threshold).values(metric, corrected)[layer, head])
    line, what = uniform_by_length(is_causal(traced), threshold).values(metric, corrected)[:, 0], _BY_ID[metric]
    high = max(float(line.max()), own, 1e-9) * 1.12  # leaves a little room above the highest point
    x, y = AxisPlaces("Tokens (logarithmic)", LENGTHS), replace(_scale(what, corrected, ".4g"), domain=(0.0, high))
    title = f"{label(what, corrected, threshold)}: a uniform head by length"
    figure = marked_lines({"uniform head": line}, {"this head": (len(traced), own)}, x, y, title=title)
    if metric == "spread" and not corrected and own > 0:
        scale = {"type": "log", "domain": [min(float(line.min()), own) / 1.12, high], "nice": False}
        figure.spec["encoding"]["y"] |= {"title": f"{y.title} (logarithmic)", "scale": scale}
    return figure
