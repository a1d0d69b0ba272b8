"""The meanings of the figures of the attention-metrics lesson, in sentences that the numbers choose.

Layers, heads and places count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.effective import RowEntropy, effective_keys
from lab.analysis.heads.metrics import METRICS, Metric, Metrics, trace_metrics
from lab.analysis.heads.parked import PARKED, effect_sizes, parked_share
from lab.analysis.heads.values import Values
from lab.analysis.ranks import rank_correlation
from lab.course.words import beside, capital, head_name, listed, named, resting_place
from lab.lessons.attention_metrics.parking import compared
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.question import MARGIN


def ends(values: Values) -> tuple[Head, Head]:
    """The heads with the highest and with the lowest of ``values`` (L, H)."""
    high, low = (np.unravel_index(int(at), values.shape) for at in (values.argmax(), values.argmin()))
    return (int(high[0]), int(high[1])), (int(low[0]), int(low[1]))


def sorted_heads(values: Values, metric: Metric, even: float) -> str:
    """Name the heads with the highest and lowest value; count the heads above a uniform one, which has ``even``."""
    high, low = ends(values)
    if values[high] == values[low]:
        return f"All {values.size} heads have the same value here, {values[high]:.3g}, so this metric sorts nothing."
    above = int(np.count_nonzero(values > even))
    count = f"{above or 'none'} of {values.size} heads {'is' if above == 1 else 'are'} above that"
    if metric.id == "spread" and not above:
        count = "no head can be above that"
    return (
        f"{capital(head_name(high))} has the highest value ({values[high]:.3g}), and {head_name(low)} the lowest "
        f"({values[low]:.3g}). A head that gives every word the same weight has {even:.3g}; {count}."
    )


def looks_at(trace: Trace, layer: int, head: int, query: int) -> str:
    """Say at how many tokens the query looks, in effect, and the mean of this number over all tokens."""
    keys = effective_keys(trace.layer(layer).attention[head : head + 1])[0]
    seen = query + 1 if trace.model.config.causal else len(trace)
    return (
        f"From {named(trace, query)}, head {head + 1} looks at **{keys[query]:.1f}** of {seen} tokens, in effect. On "
        f"average over all tokens of the text, it looks at {keys.mean():.1f}."
    )


def why_so_many(weights: Values) -> str:
    """Say how the number of tokens comes about: by the rule for three equal weights, then for ``weights`` (n,)."""
    seen = weights[weights > 0].astype(float)
    entropy = float(-(seen * np.log(seen)).sum())
    return (
        "The rule: add up −w ln w over all weights w. For three weights of ⅓ the sum is ln 3, and e^(ln 3) = 3. Here "
        "this "
        f"sum, the **entropy**, is {entropy:.2f}, and e^{entropy:.2f} = {math.exp(entropy):.1f}."
    )


def same_as_before(metric: Metric, corrected: bool) -> str:
    """Say that spread is the measure of the lesson's first step on another scale; "" for another metric."""
    if metric.id != "spread" or not corrected:
        return ""
    return " It is the entropy of the first step, scaled: 0 if each row looks at one token, 1 if at all tokens alike."


def least_alike(trace: Trace, layer: int, head: int) -> int | None:
    """The head of the layer whose rows differ most in width from the rows of ``head``; None if there is no other."""
    means = effective_keys(trace.layer(layer).attention).mean(axis=-1)
    if len(means) < 2:
        return None
    apart = np.abs(np.log(means / means[head]))
    apart[head] = -1
    return int(apart.argmax())


def two(trace: Trace, layer: int, head: int, other: int) -> str:
    """Say which of two heads looks at more words."""
    means = effective_keys(trace.layer(layer).attention).mean(axis=-1)
    wide, narrow = (head, other) if means[head] >= means[other] else (other, head)
    if means[wide] - means[narrow] < MARGIN:
        told = f"Both heads look at {means[wide]:.1f} tokens on average, in effect."
        return f"{told}{_points_at_words(trace, layer, (head, other), None)}"
    return (
        f"Head {wide + 1} looks at {means[wide]:.1f} tokens on average, in effect, and head {narrow + 1} at "
        f"{means[narrow]:.1f}.{_points_at_words(trace, layer, (head, other), narrow)}"
    )


def _points_at_words(trace: Trace, layer: int, heads: tuple[int, int], narrow: int | None) -> str:
    """Say which of two heads has the clearer favourites among words, if one has: a ``narrow`` head may merely park."""
    among_words = trace_metrics(trace, only_words=True).corrected["confidence_avg"][layer]
    first, second = sorted(heads, key=lambda at: -float(among_words[at]))
    if not among_words[first] - among_words[second] >= MARGIN:  # nan if the text has only one word
        return ""
    return (
        f" {'Also' if first == narrow else 'But'} without {resting_place(trace)}, head {first + 1} has the clearer "
        "favourites: a word gives its "
        f"favourite {among_words[first]:.2f} on average, and {among_words[second]:.2f} in head {second + 1}."
    )


def stands_out(every: Metrics, head: Head) -> str:
    """Say in which of the metrics a head is nearest to an end of all heads.

    Heads are ranked, as the units differ.
    """
    ranked = []
    for metric in METRICS:
        values = every.raw[metric.id]
        above, below = (int(np.count_nonzero(side)) for side in (values > values[head], values < values[head]))
        if above + below:
            ranked.append((min(above, below) + 1, "highest" if above <= below else "lowest", metric))
    if not ranked:
        return "All heads have the same numbers here, so no head stands out."
    best = min(rank for rank, _, _ in ranked)
    places = []
    for side in ("lowest", "highest"):
        names = [metric.name for rank, at, metric in ranked if (rank, at) == (best, side)]
        if names:
            places.append(f"{f'the {side}' if best == 1 else f'number {best} from the {side}'} by {listed(names)}")
    other = (
        " By the other metrics, this head is farther from the extremes."
        if any(rank > best for rank, _, _ in ranked)
        else ""
    )
    return f"Among all {every.removed.size} heads, {head_name(head)} is {', and '.join(places)}.{other}"


def row(trace: Trace, query: int, found: RowEntropy) -> str:
    """Say at how many keys the row looks, in effect."""
    count = len(found.weights)
    share = found.total / found.largest if found.largest else 0.0
    return (
        f"{named(trace, query)} could look at {count} tokens. In effect it looks at {found.keys:.1f}: its row has "
        f"{share:.0%} of the largest entropy."
    )


def parked(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> str:
    """Say whether the share that a head parks tells how much changes without the head, over all heads and in layers."""
    rho, band = correlation(trace, place, word, to_mean)
    if math.isnan(rho):
        return compared(trace, place, word, to_mean)
    if abs(rho) <= band:
        return (
            "Parking does not tell you what the model loses without a head: over all heads, the two numbers are hardly "
            f"related{_inside(rho, band, *within_layers(trace, place, word, to_mean))}. {_one_text(word)}"
        )
    way = "less" if rho < 0 else "more"
    return (
        f"The more a head parks, the {way} tends to change without it"
        f"{_inside(rho, band, *within_layers(trace, place, word, to_mean))}. {_one_text(word)}"
    )


def _one_text(word: int | None) -> str:
    return f"This is only one text{'' if word is None else ', and one word of it'}; another may differ."


def _layers_of_one_kind(trace: Trace) -> str:
    """Name the layers in which no head parks, or all heads do; "" if each layer has both kinds."""
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
    """Say whether the result over all heads also holds inside layers; "" if no layer can tell."""
    if math.isnan(mean):
        return ""
    if abs(mean) <= limit:
        if abs(rho) <= band:
            return ", and inside a layer they are not, either"
        return ", but inside a layer this is not true: the layer may be the reason, not the parking"
    if abs(rho) <= band:
        return ", but inside a layer they are"
    if mean * rho > 0:
        return ", and inside a layer it is the same"
    return ", but inside a layer it is the other way round: the layer is a part of the reason"


def parked_in_full(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> str:
    """Compare the two groups of heads, and say which rank correlations chance would reach."""
    groups = compared(trace, place, word, to_mean)
    (rho, band), (mean, limit) = (of(trace, place, word, to_mean) for of in (correlation, within_layers))
    if math.isnan(rho):
        return groups
    told = (
        f"{groups}\n\n{_layers_of_one_kind(trace)}The **rank correlation** says whether two numbers put the heads "
        f"into the same order: 1 for the same order, −1 for the opposite order, 0 for neither. Here it is "
        f"**{beside(rho, math.copysign(band, rho))}** over all heads. If the numbers were shuffled, it would stay "
        f"below {beside(band, abs(rho))} in 19 of 20 cases."
    )
    if math.isnan(mean):
        return told
    own = f"{'−' * (mean < 0)}{beside(abs(mean), limit)}"
    shuffled = beside(limit, abs(mean))
    return f"{told} Within a layer, it is {own} on average; with shuffled numbers, it would stay below {shuffled}."


def within_layers(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> tuple[float, float]:
    """The mean over layers of Spearman's ρ inside a layer, and its limit for shuffled numbers in 19 of 20 cases.

    Layers with fewer than three heads, or with the same number everywhere, do not count; nan if no other is left.
    """
    shares, effects = parked_share(trace), effect_sizes(trace, place, word, to_mean)
    each = [rank_correlation(*pair) for pair in zip(shares, effects, strict=True) if len(pair[0]) > 2]
    known = [rho for rho in each if not math.isnan(rho)]
    if not known:
        return math.nan, math.nan
    return float(np.mean(known)), 1.96 / math.sqrt(len(known) * (shares.shape[1] - 1))


def correlation(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> tuple[float, float]:
    """Spearman's ρ of parked share and effect over all heads, and its limit for shuffled numbers in 19 of 20 cases.

    For n things with unrelated numbers, ρ has the standard deviation 1/√(n − 1).
    """
    shares = parked_share(trace)
    rho = rank_correlation(shares, effect_sizes(trace, place, word, to_mean))
    return rho, 1.96 / math.sqrt(max(shares.size - 1, 1))
