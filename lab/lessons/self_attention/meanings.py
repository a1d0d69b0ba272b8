"""The meanings of the figures of the self-attention lesson, in the learner's own numbers.

The numbers choose every claim.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.attention import AttentionRow, attention_map, attention_row
from lab.analysis.heads.values import places_left_out
from lab.course.words import named, signed, told_apart
from lab.lessons.self_attention.claims import SEEN
from lab.models.trace import Trace

_MUCH = 0.15  # the smallest weight that a reader sees in the arcs


def _row(trace: Trace, layer: int, head: int, query: int) -> AttentionRow:
    return attention_row(trace.layer(layer), head, query)


def _order(weights: NDArray[np.float32]) -> list[int]:
    return [int(i) for i in np.argsort(-weights, kind="stable")]


def collected(trace: Trace, layer: int, head: int, query: int) -> str:
    """At which token the query looks most, and whether other tokens of the text do the same."""
    row = _row(trace, layer, head, query)
    weights, me = row.weights, told_apart(trace, query)
    order = [key for key in _order(weights) if np.isfinite(row.scaled[key])]
    if len(order) == 1:
        return f"{me} can look only at {named(trace, order[0])}, so this token gets all of its attention."
    first, second = order[:2]
    if weights[first] - weights[second] < SEEN:
        return (
            f"{me} prefers no single word: {named(trace, first)} gets {weights[first]:.2f} of its attention, and "
            f"{named(trace, second)} gets {weights[second]:.2f}."
        )
    return (
        f"{me} looks most at {named(trace, first)}: **{weights[first]:.2f}** of its attention goes there"
        f"{_share(weights[first])}. Next is {named(trace, second)} with {weights[second]:.2f}"
        f"{_alike(trace, layer, head, query, first)}."
    )


def _share(weight: float) -> str:
    """Write a weight as one would say it to a friend, for example as a half."""
    for share, word in ((0.5, "half"), (1 / 3, "a third"), (0.25, "a quarter")):
        if abs(weight - share) < SEEN:
            return f", {word} of it"
    return ", nearly all of it" if weight > 0.9 else ""


def _alike(trace: Trace, layer: int, head: int, query: int, key: int) -> str:
    """Count the other tokens that look most at ``key``, too; if there are many, this says little about the query."""
    best = attention_map(trace.layer(layer), head).argmax(axis=1)
    same, n = int((np.delete(best, query) == key).sum()), len(best)
    if not same:
        return ""
    verb = "looks" if same == 1 else "look"
    return f". But {same} of the {n - 1} other tokens {verb} most at {told_apart(trace, key)}, too"


def of_stages(trace: Trace, layer: int, head: int, query: int) -> tuple[str, str, str, str]:
    """Write a sentence for each stage of a row: its scores, the division, its weights, and the vector that arrives."""
    where = trace, layer, head, query
    return largest_score(*where), divided(trace), built(*where), brought(*where)


def divided(trace: Trace) -> str:
    """Describe the division, if the model divides; another step shows the purpose of the division."""
    d_k = trace.model.config.head_width
    if not trace.model.config.scaled_scores:
        return "This model leaves the scores as they are."
    return (
        f"√{d_k} ≈ {d_k**0.5:.2f}, because a query has {d_k} numbers. The order of the scores stays the same; the step "
        "“Why divide” shows the reason for the division."
    )


def largest_score(trace: Trace, layer: int, head: int, query: int) -> str:
    """Say which key fits the query best, among the keys that the query may see."""
    row = _row(trace, layer, head, query)
    scores = np.where(np.isfinite(row.scaled), row.scores, -np.inf)
    best = int(scores.argmax())
    return (
        f"A query and a key have {len(row.query)} numbers each. Multiply them pairwise and add up the products: this "
        f"gives the score. The largest one, {signed(float(scores[best]))}, belongs to {named(trace, best)}."
    )


def sharpest_word(trace: Trace, layer: int, head: int) -> int | None:
    """The word whose row has the largest weight, among words that see several keys; None if there is no such word."""
    weights = attention_map(trace.layer(layer), head)
    words = [
        at
        for at, special in enumerate(trace.encoding.special)
        if not special and np.isfinite(_row(trace, layer, head, at).scaled).sum() > 1
    ]
    return max(words, key=lambda at: float(weights[at].max()), default=None)


def built(trace: Trace, layer: int, head: int, query: int) -> str:
    """Say how a lead in the scores becomes a lead in the weights: e to the difference."""
    row = _row(trace, layer, head, query)
    order = _order(row.weights)
    if len(order) == 1 or not np.isfinite(row.scaled[order[1]]):
        return "There is only one score, so softmax gives it everything: the weight 1.00."
    first, second = order[:2]
    lead = float(row.scaled[first]) - float(row.scaled[second])
    if lead < SEEN:
        return (
            f"No score leads: {named(trace, first)} and {named(trace, second)} have about the same score, so they get "
            f"about the same weight, {row.weights[first]:.2f} and {row.weights[second]:.2f}."
        )
    ratio = math.exp(lead)
    times = f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"
    after = "After the division, the" if trace.model.config.scaled_scores else "The"
    return (
        f"{after} score of {named(trace, first)} is {lead:.2f} larger than the score of {named(trace, second)}. "
        f"**Softmax** turns this lead into a ratio, e to the power of {lead:.2f}: the weight is **{times}** times as "
        "large."
    )


def brought(trace: Trace, layer: int, head: int, query: int) -> str:
    """Name the value that is most like the weighted sum, and say whether its token has the largest weight."""
    row = _row(trace, layer, head, query)
    heaviest = int(row.weights.argmax())
    like = np.asarray([_cosine(row.context, value) for value in row.values])
    seen = np.isfinite(row.scaled)
    nearest = int(np.where(seen, like, -2.0).argmax())
    what = "The sum, the **context**, is most like the value of"
    told = f"{what} {named(trace, nearest)}: cosine {signed(like[nearest])}."
    if nearest != heaviest:
        return (
            f"{told} But the largest weight, {row.weights[heaviest]:.2f}, belongs to {named(trace, heaviest)}. A "
            "weight does not say how long a value is, or in which direction it points."
        )
    lengths = np.linalg.norm(row.weighted_values, axis=-1)
    part = lengths / lengths.sum() if lengths.any() else lengths
    short = int(np.where(part < row.weights / 2, row.weights, 0).argmax())
    if row.weights[short] < _MUCH or part[short] >= row.weights[short] / 2:
        return f"{told} This token also has the largest weight, {row.weights[heaviest]:.2f}."
    return (
        f"{told} {named(trace, short)} has the weight {row.weights[short]:.2f}, but its value is short: it brings only "
        f"{part[short]:.0%} of all that is added up."
    )


def resting(trace: Trace, layer: int, head: int) -> str:
    """Say how many tokens look most at a special or first token; "" if fewer than half of them do."""
    best = attention_map(trace.layer(layer), head).argmax(axis=1)
    out, _ = places_left_out(trace)
    place = int(np.bincount(best, minlength=len(trace)).argmax())
    count = int((best == place).sum())
    if not out[place] or 2 * count <= len(trace):
        return ""
    return (
        f"{count} of the {len(trace)} tokens look most at {named(trace, place)}. Some authors suppose that a head "
        "looks there when it finds nothing (Clark et al. 2019, §3.2)."
    )


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0
