"""Predictions and checks of the self-attention lesson, computed from the learner's own trace."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.attention import AttentionRow, attention_map
from lab.course.words import named, told_apart
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.kinds import ranked, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

# A weight that a question calls large.
_MUCH = 0.2


def most_attended(trace: Trace, row: AttentionRow, query: int) -> Question | None:
    """Ask to which token the query attends most."""
    weights = row.weights.tolist()

    def why(key: int, best: int) -> str:
        tail = "more than any other word." if key == best else f"less than {named(trace, best)} ({weights[best]:.2f})."
        return f"It gets {weights[key]:.2f} of the attention of {told_apart(trace, query)}, {tail}"

    prompt = f"At which word does the model look most from {named(trace, query)}?"
    return ranked("most-attended", prompt, weights, lambda key: named(trace, key), why, of=trace.labels)


def value_gone(trace: Trace, row: AttentionRow, query: int) -> Question | None:
    """Ask what changes if the value with the most attention becomes 0; the weights stay, as they need no values."""
    at = int(row.weights.argmax())
    weight, length = float(row.weights[at]), float(np.linalg.norm(row.weighted_values[at]))
    if at == query or weight < _MUCH or length < MARGIN:
        return None
    key = told_apart(trace, at)
    why = (
        f"The weight is made from the query of {told_apart(trace, query)} and the key of {key}, and neither has "
        "changed. But from there, the head collects only zeros."
    )
    outcomes = {
        "The weight stays the same, but other numbers arrive": True,
        "The weight becomes 0": False,
        "Nothing: only the weight matters": False,
    }
    prompt = (
        f"{told_apart(trace, query)} gives {key} the weight {weight:.2f}. Now all numbers of the value of {key} "
        "become 0. What happens in this layer?"
    )
    return which_holds("value-gone", prompt, why, outcomes, mixed=True)


def one_score_up(trace: Trace, row: AttentionRow, query: int) -> Question | None:
    """Ask what happens to the other weights if one score grows: all add up to 1, so the others shrink."""
    seen = [int(i) for i in np.argsort(-row.weights) if np.isfinite(row.scaled[i]) and i != query]
    if len(seen) < 3:
        return None
    raised, most = seen[-1], seen[0]
    if row.weights[most] < MARGIN:
        return None
    why = "All weights of a row add up to 1. If one weight grows, the others must shrink."
    outcomes = {
        "It gets smaller": True,
        "It stays the same: its own score did not change": False,
        "It gets larger": False,
    }
    prompt = (
        f"{told_apart(trace, query)} looks at all words. The score of {named(trace, raised)} grows, and all other "
        f"scores stay the same. What happens to the weight of {named(trace, most)}?"
    )
    return which_holds("one-score-up", prompt, why, outcomes, mixed=True)


def what_a_weight_says(trace: Trace, row: AttentionRow, query: int) -> Question | None:
    """Ask what a large weight makes certain: a head may collect something that the model then ignores."""
    at = int(row.weights.argmax())
    weight = float(row.weights[at])
    if at == query or weight < _MUCH or trace.encoding.special[at]:
        return None
    me, key = told_apart(trace, query), told_apart(trace, at)
    why = "A weight says how much of a value is collected. Whether the model uses it is another question (lesson 6)."
    outcomes = {
        f"The value of {key} goes into the sum with the factor {weight:.2f}": True,
        f"The model knows that {me} and {key} belong together": False,
        f"Without {key}, the model would say something else about {me}": False,
    }
    prompt = f"In this head, {me} gives {key} the weight {weight:.2f}. What is certain?"
    return which_holds("what-a-weight-says", prompt, why, outcomes, mixed=True)


def most_attended_overall(trace: Trace, layer: LayerTrace, head: int) -> Question | None:
    """Ask which column of the map has the largest sum.

    A row sums to 1, but a column can have any sum; the margin is per row.
    """
    n, received = len(trace), attention_map(layer, head).sum(axis=0)

    def why(key: int, best: int) -> str:
        tail = f", of {n} rows." if key == best else f"; the largest is {received[best]:.2f}."
        return f"Its column adds up to {received[key]:.2f}{tail}"

    prompt = "Every row of the map adds up to 1. Which word gets most attention from all words together?"
    shares = (received / n).tolist()
    return ranked("most-attended-overall", prompt, shares, lambda key: named(trace, key), why, of=trace.labels)


def previous_token_head(trace: Trace, layer: LayerTrace) -> Question | None:
    """Ask which head of this layer looks at the token before, by the mean of the first subdiagonal."""
    if len(trace) < 3:
        return None
    heads = range(trace.model.config.heads)
    before = [float(np.diagonal(attention_map(layer, head), offset=-1).mean()) for head in heads]

    def why(head: int, best: int) -> str:
        tail = ", more than the others." if head == best else f"; head {best + 1} spends {before[best]:.2f}."
        return f"Over this text it spends {before[head]:.2f} of a token’s attention on the token before{tail}"

    prompt = (
        f"Which head of layer {layer.index + 1} spends most attention on the token just before? Look for a line one "
        "step below the diagonal."
    )
    return ranked("previous-token-head", prompt, before, lambda head: f"Head {head + 1}", why, of=len(before))


def other_direction(trace: Trace, layer: LayerTrace, head: int, query: int, key: int) -> Question | None:
    """Ask how much weight the key gives back to the query, that is, whether attention is symmetric."""
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
                f"Row {key + 1}, column {query + 1} of the map. In the other direction, the other token asks with its "
                "own query. So the two weights are independent of each other.",
                correct=True,
            ),
            Option(f"{there:.3f}", f"Attention has a direction: the other weight is {back:.3f}."),
            Option(
                f"{1 - there:.3f}",
                f"The weights of a row add up to 1, not two weights of a pair. It is {back:.3f}.",
            ),
        ],
    )


def most_even(trace: Trace, layer: LayerTrace, head: int) -> Question | None:
    """Ask which token spreads its attention most evenly, which is the token with the smallest largest weight."""
    largest = attention_map(layer, head).max(axis=1)

    def why(query: int, best: int) -> str:
        tail = ", the smallest of all rows." if query == best else f"; row {best + 1} has {largest[best]:.3f}."
        return f"Its largest weight is {largest[query]:.3f}{tail}"

    prompt = "Which token spreads its attention most widely? Look for the row whose largest weight is the smallest."
    return ranked("most-even", prompt, (-largest).tolist(), lambda query: named(trace, query), why, of=trace.labels)
