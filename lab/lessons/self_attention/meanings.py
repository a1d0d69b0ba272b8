"""What the figures of the self-attention lesson say, in the learner's own numbers. Every claim is chosen by them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.attention import AttentionRow, attention_map, attention_row
from lab.course.words import named, quoted, signed
from lab.lessons.self_attention import claims
from lab.lessons.self_attention.claims import SEEN
from lab.models.trace import Trace

# A head of which it is said that it gives a token little gives it less than this.
LITTLE = 0.1


def _row(trace: Trace, layer: int, head: int, query: int) -> AttentionRow:
    return attention_row(trace.layer(layer), head, query)


def _order(weights: NDArray[np.float32]) -> list[int]:
    return [int(i) for i in np.argsort(-weights, kind="stable")]


def collected(trace: Trace, layer: int, head: int, query: int) -> str:
    """From which token the query collects most, and whether the layer's other heads do the same."""
    row = _row(trace, layer, head, query)
    weights, me = row.weights, quoted(trace.labels[query])
    order = [key for key in _order(weights) if np.isfinite(row.scaled[key])]
    if len(order) == 1:
        return f"{me} may collect from {named(trace, order[0])} only, so that has all the weight, 1.00."
    first, second = order[:2]
    if weights[first] - weights[second] < SEEN:
        return (
            f"{me} prefers no single token: its two largest weights, {weights[first]:.2f} for "
            f"{named(trace, first)} and {weights[second]:.2f} for {named(trace, second)}, are about the same."
        )
    told = (
        f"{me} collects most from {named(trace, first)}: **{weights[first]:.2f}**; next comes {named(trace, second)} "
        f"with {weights[second]:.2f}."
    )
    return told + (_alike(trace, layer, head, query, first) or _others(trace, layer, head, query, first))


def _others(trace: Trace, layer: int, head: int, query: int, key: int) -> str:
    """How many heads of the layer give ``key`` little; nothing where this one does, too, or none does."""
    weights = [float(attention_map(trace.layer(layer), h)[query, key]) for h in range(trace.model.config.heads)]
    others = weights[:head] + weights[head + 1 :]
    few = sum(weight < LITTLE for weight in others)
    if weights[head] < LITTLE or not few:
        return ""
    if len(others) == 1:
        of = "The other head of this layer gives"
    else:
        of = f"{few} of the {len(others)} other heads of this layer {'give' if few > 1 else 'gives'}"
    return f" {of} {quoted(trace.labels[key])} less than {LITTLE:.2f}."


def _alike(trace: Trace, layer: int, head: int, query: int, key: int) -> str:
    """How many other tokens collect most from ``key``, too: then it says little of this query alone."""
    best = attention_map(trace.layer(layer), head).argmax(axis=1)
    same, n = int((np.delete(best, query) == key).sum()), len(best)
    if not same:
        return ""
    return (
        f" In this head {same} of the {n - 1} other tokens collect{'s' * (same == 1)} most from it, too, so this does "
        f"not single out {quoted(trace.labels[query])}."
    )


def fits(trace: Trace, layer: int, head: int, query: int, key: int) -> str:
    """How well the chosen key answers the query, among the keys that the query may see."""
    row = _row(trace, layer, head, query)
    seen = np.isfinite(row.scaled)
    me, it = quoted(trace.labels[query]), quoted(trace.labels[key])
    if not seen[key]:
        return f"The mask hides {it} from {me}: however well the two fit, the weight is 0."
    better, count = int((row.scores[seen] > row.scores[key]).sum()), int(seen.sum())
    if count == 1:
        return f"{it} is the only key that {me} sees."
    how = (
        "better than any other"
        if better == 0
        else "worse than any other"
        if better == count - 1
        else f"better than {count - 1 - better} of the {count - 1} others"
    )
    return (
        f"The key of {it} answers the query of {me} {how} here. Multiplied dimension by dimension and added up, the "
        f"two give the **score** {signed(float(row.scores[key]))}."
    )


def of_stages(trace: Trace, layer: int, head: int, query: int) -> tuple[str, str, str, str]:
    """What a row says as it is built: its scores, the division, its weights, and what arrives."""
    where = trace, layer, head, query
    divided = claims.what_it_means(claims.sharper(trace, _row(*where), query))
    return largest_score(*where), divided, built(*where), brought(*where)


def largest_score(trace: Trace, layer: int, head: int, query: int) -> str:
    """Which key answers the query best, among those that the query may see."""
    row = _row(trace, layer, head, query)
    scores = np.where(np.isfinite(row.scaled), row.scores, -np.inf)
    best = int(scores.argmax())
    return (
        f"The key of {named(trace, best)} answers the query of {quoted(trace.labels[query])} best: its score is "
        f"{signed(float(scores[best]))}."
    )


def sharpest_word(trace: Trace, layer: int, head: int) -> int | None:
    """The word with the largest weight in its row, of those that choose among keys; None where there is none."""
    weights = attention_map(trace.layer(layer), head)
    words = [
        at
        for at, special in enumerate(trace.encoding.special)
        if not special and np.isfinite(_row(trace, layer, head, at).scaled).sum() > 1
    ]
    return max(words, key=lambda at: float(weights[at].max()), default=None)


def built(trace: Trace, layer: int, head: int, query: int) -> str:
    """How a lead in the scores becomes a lead in the weights: e to the difference."""
    row = _row(trace, layer, head, query)
    order = _order(row.weights)
    if len(order) == 1 or not np.isfinite(row.scaled[order[1]]):
        return "There is one score only, so softmax gives it the whole: the weight 1.00."
    first, second = order[:2]
    lead = float(row.scaled[first]) - float(row.scaled[second])
    if lead < SEEN:
        return (
            f"No score leads: the scores of {named(trace, first)} and {named(trace, second)} are about the same, and "
            f"so are their weights, {row.weights[first]:.2f} and {row.weights[second]:.2f}."
        )
    ratio = math.exp(lead)
    times = f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"
    it = "After the division the" if trace.model.config.scaled_scores else "The"
    return (
        f"{it} score of {named(trace, first)} leads that of {named(trace, second)} by {lead:.2f}. **Softmax** takes e "
        "to the power of each score and divides by the sum of all, so the first weight is e to the power of this lead, "
        f"**{times}** times the second."
    )


def brought(trace: Trace, layer: int, head: int, query: int) -> str:
    """Which value the context is most like."""
    row = _row(trace, layer, head, query)
    heaviest = int(row.weights.argmax())
    like = np.asarray([_cosine(row.context, value) for value in row.values])
    seen = np.isfinite(row.scaled)
    nearest = int(np.where(seen, like, -2.0).argmax())
    told = f"What arrives is most like the value of {named(trace, nearest)}: cosine {signed(like[nearest])}."
    if nearest == heaviest:
        return f"{told} That token also has the largest weight, {row.weights[heaviest]:.2f}."
    return (
        f"{told} The largest weight, {row.weights[heaviest]:.2f}, belongs to {named(trace, heaviest)}: a weight does "
        "not say how long a value is, nor which way it points."
    )


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0
