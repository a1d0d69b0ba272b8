"""Predictions and checks of the attention-metrics lesson, computed from the learner's own trace."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.analysis.heads.metric_parts import MetricParts, RowEntropy
from lab.analysis.heads.values import Values
from lab.course.words import signed
from lab.models.interventions import Head
from lab.questions.kinds import Quantity, numeric, ranked
from lab.questions.question import MARGIN, Option, Question, shuffled


def head_name(head: Head) -> str:
    """A head by layer and place in it, counted from 1."""
    return f"Layer {head[0] + 1}, head {head[1] + 1}"


def higher_entropy(heads: Sequence[Head], spread: Sequence[float]) -> Question | None:
    """Which of two maps is spread more evenly? ``spread``: corrected, in [0, 1]."""

    def why(place: int, best: int) -> str:
        tail = "the higher." if place == best else f"against {spread[best]:.3f} of the other."
        return f"Its rows have {spread[place]:.3f} of the largest possible entropy on average, {tail}"

    prompt = "Which of these two heads has the higher entropy?"
    return ranked("higher-entropy", prompt, spread, lambda place: head_name(heads[place]), why)


def most_even_layer(spread: Values) -> Question | None:
    """In which layer is attention spread most evenly? ``spread`` (L, H), corrected."""
    means = spread.mean(axis=1).tolist()

    def why(layer: int, best: int) -> str:
        tail = "the highest." if layer == best else f"layer {best + 1} has {means[best]:.3f}."
        return f"The mean over its heads is {means[layer]:.3f}; " + tail

    prompt = (
        "In which layer do the heads spread their attention most evenly over this text, by the mean of Spread, "
        "corrected? The step “All heads” shows it."
    )
    return ranked("most-even-layer", prompt, means, lambda layer: f"Layer {layer + 1}", why)


def goes_together(rho: float, band: float) -> Question | None:
    """Do heads that park more matter less? ``rho``: rank correlation; ``band``: what shuffled numbers stay below."""
    if math.isnan(rho) or abs(abs(rho) - band) < MARGIN:
        return None
    told = (
        f"The rank correlation is {signed(rho)}. That of shuffled numbers stays between −{band:.2f} and {band:.2f} 19 "
        "times in 20."
    )
    outcomes = (
        ("The more a head parks, the less changes without it", rho < -band),
        ("The more a head parks, the more changes without it", rho > band),
        ("Neither: they go together no more than shuffled numbers", abs(rho) < band),
    )
    options = tuple(Option(text, told, correct=right) for text, right in outcomes)
    prompt = "Set the share that a head parks beside what changes without it, for all heads. What do you expect?"
    return Question("goes-together", prompt, options)


def uniform_entropy(n: int, causal: bool) -> float:
    """Raw spread of a head without preference, in nats: n ln n, or ln n! in a causal model."""
    return math.lgamma(n + 1) if causal else n * math.log(n)


def doubled(n: int, causal: bool) -> Question | None:
    """Raw spread of a head that prefers nothing: what does a text twice as long do to it?"""
    if n < 2:
        return None
    now, then = uniform_entropy(n, causal), uniform_entropy(2 * n, causal)
    formula = rf"ln({2 * n}!)" if causal else f"{2 * n} · ln {2 * n}"
    return numeric(
        "doubled",
        f"A head that prefers nothing has a raw entropy of {now:.1f} nats on {n} tokens. What is its raw "
        f"entropy on {2 * n} tokens?",
        (then, f"{formula} = {then:.1f}: twice the rows, and each row’s entropy is larger too."),
        {
            now: "The raw entropy adds up the rows, so more rows give more, though the head has not changed.",
            2 * now: f"Twice the rows give {2 * now:.1f}, but each row also has more keys to spread over.",
            4 * now: "Four times the cells, but a row’s entropy grows with the logarithm of its length.",
        },
        Quantity("{:.1f} nats".format),
    )


def row_share(token: str, row: RowEntropy) -> Question | None:
    """From the entropy of a row to its share of the maximum."""
    keys = len(row.weights)
    if keys < 2:
        return None
    share = row.total / row.largest
    return numeric(
        "row-share",
        f"The row of {token} has an entropy of {row.total:.3f} nats over {keys} keys. What is that as a share of the "
        "largest it could be?",
        (share, f"{row.total:.3f} ÷ ln {keys} = {row.total:.3f} ÷ {row.largest:.3f} = {share:.3f}."),
        {
            row.total / keys: f"{row.total:.3f} ÷ {keys}: the maximum is ln {keys}, not {keys}.",
            row.total / math.log2(keys): f"Divided by log₂ {keys}: entropy in nats goes with the natural logarithm.",
            1 - share: "That is what is missing to the maximum.",
        },
        Quantity("{:.3f}".format),
    )


def effective_keys(token: str, row: RowEntropy) -> Question | None:
    """As if spread evenly over how many keys?"""
    keys = len(row.weights)
    if keys < 3:
        return None
    return numeric(
        "effective-keys",
        f"The row of {token} has an entropy of {row.total:.3f} nats. Another row is spread evenly over k keys and has "
        "the same entropy. What is k?",
        (row.keys, f"ln k = {row.total:.3f} for k = e^{row.total:.3f} = {row.keys:.2f}, of {keys} keys."),
        {
            float(keys): f"Evenly over all {keys} keys the entropy is ln {keys} = {row.largest:.3f}.",
            2**row.total: f"2^{row.total:.3f}: right for bits, but the entropy is in nats.",
            row.total: "That is the entropy itself: its exponential is the number of keys.",
            float(keys) / 2: f"Evenly over half of the keys it is ln {keys / 2:g} = {math.log(keys / 2):.3f}.",
        },
        Quantity("{:.2f}".format),
    )


def uniform_average(n: int, causal: bool) -> Question | None:
    """Confidence (average) of a head without preference."""
    if n < 3:
        return None
    value = float(np.mean(1 / np.arange(1, n + 1))) if causal else 1 / n
    rows = (
        f"Row i has i equal weights, so its largest is 1/i; the mean over {n} rows is {value:.3f}."
        if causal
        else f"Every row has {n} equal weights, so its largest is 1/{n} = {value:.3f}."
    )
    return numeric(
        "uniform-average",
        f"What confidence (average) does a uniform head have on the {n} tokens of this text?",
        (value, rows),
        {
            0.0: "Its weights are equal, not 0: a row sums to 1.",
            1.0: "1 means that each row gives everything to one key.",
            0.5: f"Only with two keys in a row; here there are {'up to ' if causal else ''}{n}.",
        },
        Quantity("{:.3f}".format),
    )


def most_confident(layer: int, averages: Values) -> Question | None:
    """Which head of a layer has the clearest favourites? ``averages`` (H,)."""

    def why(head: int, best: int) -> str:
        tail = ", the highest." if head == best else f"; head {best + 1} has {averages[best]:.3f}."
        return f"Its largest weight in a row is {averages[head]:.3f} on average{tail}"

    prompt = (
        f"In which head of layer {layer + 1} is confidence (average) highest, so that tokens have the clearest "
        "favourite?"
    )
    return ranked("most-confident", prompt, averages.tolist(), lambda head: f"Head {head + 1}", why, of=len(averages))


def maximum_is_one_row(head: Head, parts: MetricParts) -> Question | None:
    """A maximum says something about one row only; how many rows have a weight near it?"""
    largest, n = float(parts.largest.max()), len(parts.largest)
    mean = float(parts.largest.mean())
    near = int(np.count_nonzero(parts.largest > largest / 2))
    if largest - mean < 0.2 or near > n / 3:
        return None
    name = head_name(head)
    return shuffled(
        "maximum-is-one-row",
        f"In {name[0].lower()}{name[1:]}, confidence (max) is {largest:.3f} and confidence (average) is {mean:.3f}. "
        "What do the two say together?",
        [
            Option(
                "Few rows are as confident as the maximum",
                f"{near} of {n} rows have a weight above {largest / 2:.3f}; the maximum speaks for one row.",
                correct=True,
            ),
            Option(
                f"Every token gives some token about {largest:.1f}",
                f"Then the average would be near {largest:.3f}; it is {mean:.3f}.",
            ),
            Option(
                f"The largest weight of most rows is above {largest:.1f}",
                f"No weight is above {largest:.3f}: it is the maximum.",
            ),
        ],
    )
