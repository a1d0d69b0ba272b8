"""What the figures of the attention-metrics lesson mean, in sentences that the numbers choose.

Layers, heads and places count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.metric_parts import RowEntropy
from lab.analysis.heads.metrics import METRICS, Metric, Metrics, trace_metrics
from lab.analysis.heads.parked import effect_sizes, parked_share, rank_correlation
from lab.analysis.heads.values import Values
from lab.course.heads import Head, head_name
from lab.course.parking import compared
from lab.course.words import beside, named
from lab.models.trace import Trace


def ends(values: Values) -> tuple[Head, Head]:
    """The heads with the highest and with the lowest of ``values`` (L, H)."""
    high, low = (np.unravel_index(int(at), values.shape) for at in (values.argmax(), values.argmin()))
    return (int(high[0]), int(high[1])), (int(low[0]), int(low[1]))


def sorted_heads(values: Values, metric: Metric, even: float) -> str:
    """Which heads stand at the two ends, and on which side of a uniform head, which has ``even``, the others are."""
    high, low = ends(values)
    if values[high] == values[low]:
        return f"All {values.size} heads have the same value here, {values[high]:.3g}, so it sorts nothing."
    above = int(np.count_nonzero(values > even))
    count = "No head is" if not above else f"{above} of {values.size} heads {'is' if above == 1 else 'are'}"
    return (
        f"By this number, {head_name(high)} comes first ({values[high]:.3g}) and {head_name(low)} last "
        f"({values[low]:.3g}). A head that gives every key the same weight has {even:.3g}. {count} above "
        f"that. {metric.use}"
    )


def two(trace: Trace, layer: int, head: int, other: int) -> str:
    """Which of two heads is the more even; the text has two tokens at least."""
    spread = trace_metrics(trace).corrected["spread"][layer]
    even, sure = (head, other) if spread[head] >= spread[other] else (other, head)
    if spread[even] == spread[sure]:
        return f"Both heads are equally even: {spread[even]:.2f} of the largest possible entropy."
    digits = 2 if round(float(spread[even]), 2) != round(float(spread[sure]), 2) else 4
    return (
        f"Head {even + 1} is the more even: {spread[even]:.{digits}f} of the largest possible entropy, against "
        f"{spread[sure]:.{digits}f} for head {sure + 1}. To see what a head points at, open head {sure + 1}."
    )


def stands_out(every: Metrics, head: Head) -> str:
    """By which of the six numbers a head lies farthest out among all heads. Ranks do not need one unit."""
    ranked = []
    for metric in METRICS:
        values = every.raw[metric.id]
        above, below = (int(np.count_nonzero(side)) for side in (values > values[head], values < values[head]))
        if above + below:
            ranked.append((min(above, below) + 1, "highest" if above <= below else "lowest", metric))
    if not ranked:
        return "All heads have the same numbers here, so none stands out."
    rank, side, metric = min(ranked, key=lambda each: each[0])
    place = f"the {side}" if rank == 1 else f"number {rank} from the {side}"
    return (
        f"Among all {every.removed.size} heads, {head_name(head)} is {place} by {metric.name}, and by none of the six "
        "is it farther out. A number sorts heads. It does not say that the others are not worth reading."
    )


def row(trace: Trace, query: int, found: RowEntropy) -> str:
    """How many keys the row in effect looks at."""
    count, largest = len(found.weights), int(found.weights.argmax())
    share = found.total / found.largest if found.largest else 0.0
    how = "nearly evenly" if share > 0.9 else "unevenly" if share > 0.4 else "almost on one key"
    if how == "almost on one key":
        how = f"mostly on few keys, first of all {named(trace, largest)}"
    return (
        f"{named(trace, query)} could look at {count} keys. It spreads its attention {how}: as if over "
        f"{found.keys:.1f} keys alike, {share:.0%} of the largest entropy."
    )


def parked(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> str:
    """Whether the share that a head parks tells how much changes without it: the two groups, then all heads."""
    rho, band = correlation(trace, place, word, to_mean)
    groups = compared(trace, place, word, to_mean)
    if math.isnan(rho):
        return groups
    if abs(rho) <= band:
        tells = f"That is no more than shuffled numbers give: they stay below {band:.2f} 19 times in 20"
    else:
        tells = f"The more a head parks, the {'less' if rho < 0 else 'more'} tends to change"
    return (
        f"{groups} Over all heads, the rank correlation of the two numbers is "
        f"**{beside(rho, math.copysign(band, rho))}** (−1: opposite orders, 1: the same order). {tells}. "
        f"{_inside(rho, band, *within_layers(trace, place, word, to_mean))}It holds for this text"
        f"{'' if word is None else ' and word'}."
    )


def _inside(rho: float, band: float, mean: float, limit: float) -> str:
    """Whether what holds over all heads also holds inside layers; "" where no layer can tell."""
    if math.isnan(mean):
        return ""
    size = beside(abs(mean), limit)
    told = f"Layers differ in both numbers. Inside a layer, the mean rank correlation is {'−' * (mean < 0)}{size}: "
    if abs(mean) <= limit:
        little = f"no more than shuffled numbers give, which stay below {beside(limit, abs(mean))} 19 times in 20. "
        return told + little + "So the layer may be the reason, not the parking. " * (abs(rho) > band)
    if abs(rho) <= band:
        return f"{told}more than shuffled numbers give. "
    if mean * rho > 0:
        return f"{told}it holds there, too. "
    return f"{told}there it is the other way round, so the layer is a part of the reason. "


def within_layers(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> tuple[float, float]:
    """The mean over layers of Spearman's ρ inside each, and what shuffled numbers stay below 19 times of 20.

    Layers of fewer than three heads, or in which a number is the same everywhere, do not count; nan without another.
    """
    shares, effects = parked_share(trace), effect_sizes(trace, place, word, to_mean)
    each = [rank_correlation(*pair) for pair in zip(shares, effects, strict=True) if len(pair[0]) > 2]
    known = [rho for rho in each if not math.isnan(rho)]
    if not known:
        return math.nan, math.nan
    return float(np.mean(known)), 1.96 / math.sqrt(len(known) * (shares.shape[1] - 1))


def correlation(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> tuple[float, float]:
    """Spearman's ρ of parked share and effect over all heads, and what shuffled numbers stay below 19 times of 20.

    Unrelated numbers of n things have a ρ with the standard deviation 1/√(n − 1).
    """
    shares = parked_share(trace)
    rho = rank_correlation(shares, effect_sizes(trace, place, word, to_mean))
    return rho, 1.96 / math.sqrt(max(shares.size - 1, 1))
