"""Attention metrics: two heads to compare, one metric of every head, and what moves it besides the head.

A metric goes by its id in :data:`lab.analysis.heads.metrics.METRICS`; ``threshold`` is the τ of raw sparsity.
What ends in ``_of`` draws a measurement that is at hand; the function of the same name without it measures first.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.comparing import small_maps as blocks
from lab.analysis.heads.metric_parts import LENGTHS, keep_others, places_left_out, shares_below, uniform_by_length
from lab.analysis.heads.metrics import METRICS, Metric, Metrics, trace_metrics, uniform_metrics
from lab.analysis.heads.values import Values, is_causal, uniform_attention
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.charts.marks.bars import bars
from lab.charts.marks.marked import marked_lines
from lab.figures.attention import place
from lab.figures.multi_head import CELLS, counted
from lab.models.trace import Trace

_THRESHOLDS = np.geomspace(1e-4, 1, 161)
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
    return all_heads_of(trace_metrics(traced, threshold=threshold), metric, layer, head, corrected, threshold)


def all_heads_of(every: Metrics, metric: str, layer: int, head: int, corrected: bool, threshold: float) -> Heatmap:
    """The same, measured before."""
    values, what = every.values(metric, corrected), _BY_ID[metric]
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
    every = trace_metrics(traced, threshold=threshold)
    even = uniform_metrics(len(traced), is_causal(traced), threshold=threshold)
    return one_layer_of(every, even, metric, layer, head, corrected, threshold)


def one_layer_of(
    every: Metrics, even: Metrics, metric: str, layer: int, head: int, corrected: bool, threshold: float
) -> Figure:  # fmt: skip
    """The same, measured before; ``even`` is measured of a head without preference."""
    values, what = every.values(metric, corrected)[layer], _BY_ID[metric]
    return bars(
        [f"Head {each + 1}" for each in range(len(values))], values,
        title=f"{label(what, corrected, threshold)}, layer {layer + 1}",
        value_title=unit(what, corrected).capitalize(), highlight=head,
        reference=float(even.values(metric, corrected)[0]),
    )  # fmt: skip


def removed(traced: Trace, layer: int, head: int) -> Heatmap:
    """The attention that every head spends on special tokens, or on the first token where there are none.

    Nothing is left out of a text that has no other tokens. One head is outlined.
    """
    return removed_of(traced, trace_metrics(traced, keep=keep_others(traced)).removed, layer, head)


def removed_of(traced: Trace, share: Values, layer: int, head: int) -> Heatmap:
    """The same, measured before: ``share`` (L, H)."""
    _, special = places_left_out(traced)
    return heatmap(
        share, counted(len(share)), counted(share.shape[1]), row_title="Layer", column_title="Head",
        title=f"Attention removed with {'the special tokens' if special else 'the first token'}",
        value_title="Share of a row", domain=(0.0, 1.0), highlight=(layer, head), numbered=False, value_format=".2f",
    )  # fmt: skip


def by_threshold(traced: Trace, layer: int, head: int, threshold: float = 0.01) -> Figure:
    """Raw sparsity as a function of τ, of one head and of a head without preference; marked at ``threshold``."""
    return by_threshold_of(sparsities(traced, layer, head, threshold), layer, head, threshold)


def sparsities(traced: Trace, layer: int, head: int, threshold: float) -> dict[str, Values]:
    """The shares of cells below each of a row of thresholds, and last below ``threshold``, by whose they are."""
    causal = is_causal(traced)
    maps = {
        "this head": attention_map(traced.layer(layer), head),
        "uniform head": uniform_attention(len(traced), causal)[0],
    }
    return {name: shares_below(each, [*_THRESHOLDS, threshold], causal=causal) for name, each in maps.items()}


def by_threshold_of(below: Mapping[str, Values], layer: int, head: int, threshold: float) -> Figure:
    """The same, measured before by :func:`sparsities`."""
    return marked_lines(
        {name: shares[:-1] for name, shares in below.items()},
        {name: (threshold, float(shares[-1])) for name, shares in below.items()}, x=_THRESHOLDS.tolist(),
        rule=threshold, y_domain=(0.0, 1.0), x_title="τ (logarithmic)", y_title="Share of cells below τ",
        title=f"Sparsity by threshold, {place(layer, head)}",
    )  # fmt: skip


def by_length(
    traced: Trace, metric: str, layer: int, head: int, corrected: bool = False, threshold: float = 0.01
) -> Figure:  # fmt: skip
    """A metric of a head without preference on texts of many lengths, and one head on this text beside it.

    Errors: those of :func:`all_heads`.
    """
    own = trace_metrics(traced, threshold=threshold).values(metric, corrected)[layer, head]
    even = uniform_by_length(is_causal(traced), threshold)
    return by_length_of(even, metric, len(traced), float(own), corrected, threshold)


def by_length_of(even: Metrics, metric: str, n: int, own: float, corrected: bool, threshold: float) -> Figure:
    """The same, measured before: ``own`` is what the head has on ``n`` tokens."""
    line, what = even.values(metric, corrected)[:, 0], _BY_ID[metric]
    return marked_lines(
        {"uniform head": line}, {"this head": (n, own)}, x=LENGTHS, value_format=".4g",
        x_title="Tokens (logarithmic)", y_title=unit(what, corrected).capitalize(),
        title=f"{label(what, corrected, threshold)}: a uniform head by length",
        y_domain=(0.0, max(float(line.max()), own, 1e-9) * 1.12),  # a little room above the highest point
    )  # fmt: skip
