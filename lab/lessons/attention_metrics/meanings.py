"""What the figures of the attention-metrics lesson mean, in sentences that the numbers choose.

Layers, heads and places count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.metric_parts import RowEntropy
from lab.analysis.heads.metrics import METRICS, Metric, Metrics, trace_metrics
from lab.analysis.heads.parked import PARKED, effect_sizes, parked_share, rank_correlation
from lab.analysis.heads.values import Values
from lab.course.heads import head_name, listed, resting_place
from lab.course.parking import compared
from lab.course.words import beside, named
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.question import MARGIN


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
    count = f"{above or 'None'} of {values.size} heads {'is' if above == 1 else 'are'} above that"
    if metric.id == "spread" and not above:
        count = "No row can be spread more evenly, so no head is above that"
    return (
        f"By this number, {head_name(high)} comes first ({values[high]:.3g}) and {head_name(low)} last "
        f"({values[low]:.3g}). A head that gives every key the same weight has {even:.3g}. {count}."
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
        f"{spread[sure]:.{digits}f} for head {sure + 1}.{_points_at_words(trace, layer, head, other)}"
    )


def _points_at_words(trace: Trace, layer: int, head: int, other: int) -> str:
    """Which of two heads has the clearer favourites among words, where one has: a sure head may just rest."""
    among_words = trace_metrics(trace, only_words=True).corrected["confidence_avg"][layer]
    first, second = sorted((head, other), key=lambda at: -float(among_words[at]))
    if not among_words[first] - among_words[second] >= MARGIN:  # nan, where a text has one word
        return ""
    return (
        f" To see which words a head points at, begin with head {first + 1}: without {resting_place(trace)}, a word "
        f"gives its favourite {among_words[first]:.2f} of its attention on average, in head {second + 1} "
        f"{among_words[second]:.2f}."
    )


def stands_out(every: Metrics, head: Head) -> str:
    """By which of the six numbers a head lies nearest to an end of all heads. Ranks do not need one unit."""
    ranked = []
    for metric in METRICS:
        values = every.raw[metric.id]
        above, below = (int(np.count_nonzero(side)) for side in (values > values[head], values < values[head]))
        if above + below:
            ranked.append((min(above, below) + 1, "highest" if above <= below else "lowest", metric))
    if not ranked:
        return "All heads have the same numbers here, so none stands out."
    best = min(rank for rank, _, _ in ranked)
    places = []
    for side in ("lowest", "highest"):
        names = [metric.name for rank, at, metric in ranked if (rank, at) == (best, side)]
        if names:
            places.append(f"{f'the {side}' if best == 1 else f'number {best} from the {side}'} by {listed(names)}")
    other = " By no other of the six is it that near to an end." if any(rank > best for rank, _, _ in ranked) else ""
    return (
        f"Among all {every.removed.size} heads, {head_name(head)} is {', and '.join(places)}.{other} A number sorts "
        "heads. It does not say that the others are not worth reading."
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
    """Whether the share that a head parks tells how much changes without it, over all heads and inside layers."""
    rho, band = correlation(trace, place, word, to_mean)
    if math.isnan(rho):
        return compared(trace, place, word, to_mean)
    size = f"rank correlation **{beside(rho, math.copysign(band, rho))}**"
    if abs(rho) <= band:
        told = f"Over all heads, the two numbers hardly go together ({size}, no more than chance gives)."
    else:
        told = f"The more a head parks, the {'less' if rho < 0 else 'more'} tends to change without it ({size})."
    inside = _inside(rho, band, *within_layers(trace, place, word, to_mean))
    asked = "one text" if word is None else "one text and one word of it"
    return f"{told} {_layers_of_one_kind(trace)}{inside}This is so for {asked}; another may differ."


def _layers_of_one_kind(trace: Trace) -> str:
    """Layers in which no head parks, or all do; "" where each has both kinds."""
    parks = parked_share(trace) > PARKED
    if len(parks) < 2 or parks.all() or not parks.any():
        return ""
    none, every = ([str(at + 1) for at in np.flatnonzero(of)] for of in (~parks.any(axis=1), parks.all(axis=1)))
    told = [
        f"n layer{'s' if len(layers) > 1 else ''} {listed(layers)}, {how}"
        for layers, how in ((none, "no head parks"), (every, "all do" if none else "all heads park"))
        if layers
    ]
    return f"I{'; i'.join(told)}. " if told else ""


def _inside(rho: float, band: float, mean: float, limit: float) -> str:
    """Whether what holds over all heads also holds inside layers; "" where no layer can tell."""
    if math.isnan(mean):
        return ""
    told = f"Inside a layer, they {{}} ({'−' * (mean < 0)}{beside(abs(mean), limit)} on average{{}}). "
    if abs(mean) <= limit:
        if abs(rho) <= band:
            none = "So what a head parks does not tell here what the model loses without it. "
            return told.format("do not, either", ", no more than chance gives") + none
        reason = "So the layer may be the reason, not the parking. "
        return told.format("hardly go together", ", no more than chance gives") + reason
    if abs(rho) <= band:
        return told.format("go together more than by chance", "")
    if mean * rho > 0:
        return told.format("go together in the same way", "")
    return told.format("go together the other way round", "") + "So the layer is a part of the reason. "


def parked_in_full(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> str:
    """The two groups of heads beside each other, and what the rank correlations are held against."""
    groups = compared(trace, place, word, to_mean)
    (rho, band), (mean, limit) = (of(trace, place, word, to_mean) for of in (correlation, within_layers))
    if math.isnan(rho):
        return groups
    told = (
        f"{groups}\n\nThe rank correlation is 1 where two numbers put the heads into the same order, −1 for opposite "
        f"orders. Chance: that of shuffled numbers stays below {beside(band, abs(rho))} 19 times in 20 over all heads"
    )
    return told + ("." if math.isnan(mean) else f", and below {beside(limit, abs(mean))} as a mean over the layers.")


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
