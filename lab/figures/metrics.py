"""Attention metrics: two heads to compare, one metric of every head, and what moves it besides the head.

A metric goes by its id in :data:`lab.analysis.heads.metrics.METRICS`; ``threshold`` is the τ of raw sparsity.
"""

from __future__ import annotations

from lab.analysis.heads.comparing import small_maps as blocks
from lab.analysis.heads.metric_parts import LENGTHS, THRESHOLDS, sparsity_by_threshold, uniform_by_length
from lab.analysis.heads.metrics import METRICS, Metric, metrics_by_chance, trace_metrics
from lab.analysis.heads.values import is_causal, places_left_out
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.charts.marks.bars import bars
from lab.charts.marks.marked import marked_lines
from lab.figures.attention import place
from lab.figures.multi_head import CELLS, counted
from lab.models.trace import Trace

HEADS = ("this head", "uniform head")
_BY_ID = {metric.id: metric for metric in METRICS}


def label(metric: Metric, corrected: bool, threshold: float) -> str:
    """A metric as titles call it: "Sparsity, raw (τ = 0.01)"."""
    tau = f" (τ = {threshold:g})" if metric.uses_threshold and not corrected else ""
    return f"{metric.name}, {'corrected' if corrected else 'raw'}{tau}"


def unit(metric: Metric, corrected: bool) -> str:
    """What the values are measured in."""
    return (corrected and metric.corrected_unit) or metric.unit


def two_heads(traced: Trace, layer: int, head: int, other: int) -> SmallMaps:
    """The maps of two heads of a layer on one scale; of a long text, a cell is the largest weight of a block."""
    maps, block = blocks(traced.layer(layer).attention[[head, other]], CELLS)
    names = [f"Layer {layer + 1}, head {each + 1}" for each in (head, other)]
    return small_maps(
        maps, traced.labels if block == 1 else block_names(len(traced), block),
        list(zip(names, ("chosen", "other"), strict=True)), title="Attention of two heads", value_title="Weight",
        domain=(0.0, 1.0), causal=is_causal(traced),
    )  # fmt: skip


def all_heads(
    traced: Trace, metric: str, layer: int, head: int, corrected: bool = False, threshold: float = 0.01
) -> Heatmap:  # fmt: skip
    """A metric of every head of the model; one head is outlined.

    Raises ValueError for a text in which no row has a choice, if the metric is corrected for that.
    """
    values, what = trace_metrics(traced, threshold).values(metric, corrected), _BY_ID[metric]
    return heatmap(
        values, counted(len(values)), counted(values.shape[1]), title=label(what, corrected, threshold),
        row_title="Layer", column_title="Head", value_title=unit(what, corrected).capitalize(), select="cell",
        highlight=(layer, head), numbered=False, value_format=".2f",
    )  # fmt: skip


def one_layer(
    traced: Trace, metric: str, layer: int, head: int, corrected: bool = False, threshold: float = 0.01
) -> Figure:  # fmt: skip
    """A metric of the heads of one layer; dashed, that of a head without preference on as many tokens.

    Errors: those of :func:`all_heads`.
    """
    values, what = trace_metrics(traced, threshold).values(metric, corrected)[layer], _BY_ID[metric]
    return bars(
        [f"Head {each + 1}" for each in range(len(values))], values,
        title=f"{label(what, corrected, threshold)}, layer {layer + 1}",
        value_title=unit(what, corrected).capitalize(), highlight=head,
        reference=float(metrics_by_chance(traced, threshold).values(metric, corrected)[0]),
    )  # fmt: skip


def removed(traced: Trace, layer: int, head: int) -> Heatmap:
    """The attention that every head spends on special tokens, or on the first token where there are none.

    Nothing is left out of a text that has no other tokens. One head is outlined.
    """
    share, (_, special) = trace_metrics(traced, only_words=True).removed, places_left_out(traced)
    return heatmap(
        share, counted(len(share)), counted(share.shape[1]), row_title="Layer", column_title="Head",
        title=f"Attention removed with {'the special tokens' if special else 'the first token'}",
        value_title="Share of a row", domain=(0.0, 1.0), highlight=(layer, head), numbered=False, value_format=".2f",
    )  # fmt: skip


def by_threshold(traced: Trace, layer: int, head: int, threshold: float = 0.01) -> Figure:
    """Raw sparsity as a function of τ, of one head and of a head without preference; marked at ``threshold``."""
    below = dict(zip(HEADS, sparsity_by_threshold(traced, layer, head, threshold), strict=True))
    return marked_lines(
        {name: shares[:-1] for name, shares in below.items()},
        {name: (threshold, float(shares[-1])) for name, shares in below.items()}, x=THRESHOLDS,
        rule=threshold, y_domain=(0.0, 1.0), x_title="τ (logarithmic)", y_title="Share of cells below τ",
        title=f"Sparsity by threshold, {place(layer, head)}",
    )  # fmt: skip


def by_length(
    traced: Trace, metric: str, layer: int, head: int, corrected: bool = False, threshold: float = 0.01
) -> Figure:  # fmt: skip
    """A metric of a head without preference on texts of many lengths, and one head on this text beside it.

    Errors: those of :func:`all_heads`.
    """
    own = float(trace_metrics(traced, threshold).values(metric, corrected)[layer, head])
    line, what = uniform_by_length(is_causal(traced), threshold).values(metric, corrected)[:, 0], _BY_ID[metric]
    return marked_lines(
        {"uniform head": line}, {"this head": (len(traced), own)}, x=LENGTHS, value_format=".4g",
        x_title="Tokens (logarithmic)", y_title=unit(what, corrected).capitalize(),
        title=f"{label(what, corrected, threshold)}: a uniform head by length",
        y_domain=(0.0, max(float(line.max()), own, 1e-9) * 1.12),  # a little room above the highest point
    )  # fmt: skip
