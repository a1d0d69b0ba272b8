"""Predictions and checks of the self-attention lesson, computed from the learner's own trace."""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.attention import AttentionRow, attention_map
from lab.course.words import named, quoted
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, numeric, ranked
from lab.questions.question import MARGIN, Option, Question, shuffled


def most_attended(trace: Trace, row: AttentionRow, query: int) -> Question | None:
    """Which token does the query attend to most?"""
    weights = row.weights.tolist()

    def why(key: int, best: int) -> str:
        tail = "more than any other token." if key == best else f"less than {weights[best]:.3f}."
        return f"It gets {weights[key]:.3f} of the attention of {quoted(trace.labels[query])}, {tail}"

    prompt = f"Which token does {named(trace, query)} attend to most in this head?"
    return ranked("most-attended", prompt, weights, lambda key: named(trace, key), why, of=trace.labels)


def second_weight(trace: Trace, row: AttentionRow, query: int) -> Question | None:
    """From two scaled scores and one weight to the other weight: the softmax by hand."""
    if len(row.weights) < 2:
        return None
    first, second = np.argsort(-row.weights)[:2]
    w_1, w_2 = float(row.weights[first]), float(row.weights[second])
    s_1, s_2 = float(row.scaled[first]), float(row.scaled[second])
    if not math.isfinite(s_2) or w_1 - w_2 < MARGIN:
        return None
    gap = s_1 - s_2
    wrong = {
        w_1 - gap: f"{w_1:.3f} − {gap:.3f}: the difference of the scores was taken from the weight.",
        w_1 * s_2 / s_1 if s_1 else -1.0: "This shares in proportion to the scores. The softmax shares in proportion "
        "to their exponentials.",
        w_1
        / (
            1 + gap
        ): f"This is {w_1:.3f} ÷ (1 + {gap:.3f}). It uses 1 + the difference in place of e to the difference, which is "
        "nearly the same only for a small difference.",
        w_1 / 2: "This is half of the first weight. The softmax looks at the scores.",
    }
    why = f"{w_1:.3f} · e^({s_2:.3f} − {s_1:.3f}) = {w_2:.3f}."
    key_1, key_2 = named(trace, int(first)), named(trace, int(second))
    prompt = (
        f"For the query {named(trace, query)} the scaled score of {key_1} is {s_1:.3f} and its weight {w_1:.3f}. "
        f"The scaled score of {key_2} is {s_2:.3f}. What is its weight?"
    )
    return numeric("second-weight", prompt, (w_2, why), wrong, Quantity("{:.3f}".format, apart=0.02, within=(0, 1)))


def most_attended_overall(trace: Trace, layer: LayerTrace, head: int) -> Question | None:
    """Which column of the map adds up to most? Rows sum to 1, columns to anything; the margin is per row."""
    n, received = len(trace), attention_map(layer, head).sum(axis=0)

    def why(key: int, best: int) -> str:
        tail = f", of {n} rows." if key == best else f"; the largest is {received[best]:.2f}."
        return f"Its column adds up to {received[key]:.2f}{tail}"

    prompt = "Every row of the map adds up to 1. Which token’s column adds up to most?"
    shares = (received / n).tolist()
    return ranked("most-attended-overall", prompt, shares, lambda key: named(trace, key), why, of=trace.labels)


def previous_token_head(trace: Trace, layer: LayerTrace) -> Question | None:
    """Which head of this layer looks at the token before? Mean of the first subdiagonal."""
    if len(trace) < 3:
        return None
    heads = range(trace.model.config.heads)
    before = [float(np.diagonal(attention_map(layer, head), offset=-1).mean()) for head in heads]

    def why(head: int, best: int) -> str:
        tail = ", more than the others." if head == best else f"; head {best + 1} spends {before[best]:.2f}."
        return f"Over this text it spends {before[head]:.2f} of a token’s attention on the one before{tail}"

    prompt = (
        f"Which head of layer {layer.index + 1} spends most on the token just before? Look for a line one "
        "step below the diagonal."
    )
    return ranked("previous-token-head", prompt, before, lambda head: f"Head {head + 1}", why, of=len(before))


def other_direction(trace: Trace, layer: LayerTrace, head: int, query: int, key: int) -> Question | None:
    """Is attention symmetric? What does the key give back to the query?"""
    weights = attention_map(layer, head)
    there, back = float(weights[query, key]), float(weights[key, query])
    values = [back, there, 1 - there]
    if query == key or min(abs(a - b) for i, a in enumerate(values) for b in values[:i]) < MARGIN:
        return None
    return shuffled(
        "other-direction",
        f"{named(trace, query)} gives {named(trace, key)} the weight {there:.3f}. What does {named(trace, key)} "
        f"give {named(trace, query)}?",
        [
            Option(
                f"{back:.3f}",
                f"Row {key + 1}, column {query + 1} of the map. It comes from another query and "
                "another key, so nothing ties it to the first weight.",
                correct=True,
            ),
            Option(f"{there:.3f}", f"Attention is not symmetric: the map holds {back:.3f} there."),
            Option(f"{1 - there:.3f}", f"Rows add up to 1, not pairs of tokens: the map holds {back:.3f} there."),
        ],
    )


def most_even(trace: Trace, layer: LayerTrace, head: int) -> Question | None:
    """Which token spreads its attention most evenly? Judged by its largest weight."""
    largest = attention_map(layer, head).max(axis=1)

    def why(query: int, best: int) -> str:
        tail = ", the smallest of all rows." if query == best else f"; row {best + 1} has {largest[best]:.3f}."
        return f"Its largest weight is {largest[query]:.3f}{tail}"

    prompt = "Which token spreads its attention most widely? Look for the row whose largest weight is the smallest."
    return ranked("most-even", prompt, (-largest).tolist(), lambda query: named(trace, query), why, of=trace.labels)
