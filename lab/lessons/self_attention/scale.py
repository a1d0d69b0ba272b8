"""Why divide: the weights of a row with and without the division of its scores by √d_k."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lab.analysis.heads.one_row import attention_row, heaviest, undivided
from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.words import spoken
from lab.figures.attention import BARS
from lab.figures.trace_axes import KEY, WEIGHT
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import Spot
from lab.ui.drawing import code, draw
from lab.ui.parameters import TOKEN
from lab.ui.screen import caption, meaning, say
from lab.ui.shared.one_head import OneHead, show_sentence

IDEA = """
A score adds up {d_k} products, so scores tend to grow with the width of a head. Before softmax, each score is
therefore divided by √{d_k} ≈ {root:.2f}. The figure shows the weights of one row, with the division and without it."""
READING = "In the row of {query}, {first} gets {divided:.2f}. Without the division, it would get **{without:.2f}**."
STORY = "Less than 0.0001 would be left for the other eight tokens. (The blank’s own row is one-sided in both ways.)"
WHY = """
Training makes small changes, and keeps to those that help (lesson 10). If one token gets everything, a small change of
the scores changes almost nothing, and training hardly learns what would help. So Vaswani et al. (2017, §3.2.1)
suspected."""
CAVEAT = "This model was trained with the division. Trained without it, it might learn smaller queries and keys."
NO_DIVISION = "This model does not divide its scores."


def show(view: OneHead) -> None:
    """Show a row with and without the division; the course's row is that of [CLS], which looks at several tokens."""
    story = view.spot.in_story_row and not TOKEN.chosen()
    if story:
        view = replace(view, query=0)
    d_k = view.trace.model.config.head_width
    show_sentence(view)
    if not view.trace.model.config.scaled_scores:
        say(NO_DIVISION)
        return
    say(IDEA.format(d_k=d_k, root=d_k**0.5))
    draw(view.figure(divided), "divided")
    found = READING.format(**vars(sharper(view.spot)))
    meaning(f"{found} {STORY}" if story else found)
    say(WHY)
    caption(CAVEAT)
    code(forward.scale, undivided)


@dataclass(frozen=True)
class Sharper:
    """The effect of the division by √d_k on the largest weight of one row (Vaswani et al. 2017, §3.2.1).

    ``query`` and ``first`` are the token to which the row belongs, and the token with the largest weight, in words;
    ``divided`` and ``without`` are its weights with and without the division.
    """

    query: str
    first: str
    divided: float
    without: float


def sharper(spot: Spot) -> Sharper:
    """Compare the largest weight in the row of the query with and without the division, which changes no order."""
    trace, row = spot.trace, spot.row
    first = int(row.weights.argmax())
    names = spoken(trace, spot.query), spoken(trace, first)
    return Sharper(*names, float(row.weights[first]), float(undivided(row)[first]))


def divided(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """Draw the weights of one query with and without the division by √d_k; in a long text, for its heaviest keys."""
    row, n = attention_row(traced.layer(layer), head, query), len(traced)
    seen = heaviest(row.weights, key, min(n, BARS))
    both = np.stack([row.weights, undivided(row)])[:, seen]
    names = f"÷ √{len(row.query)}", "not divided"
    axes = Axis("Scores", names), Axis(KEY, [traced.labels[i] for i in seen])
    part = "" if n <= BARS else f", {len(seen)} keys of {n}"
    return heatmap(both, axes, WEIGHT, title=f"The weights of {traced.labels[query]}{part}")
