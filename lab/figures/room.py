"""A class's answers in a round: the share of each option, or of each bin of a number, with its interval."""

from __future__ import annotations

import numpy as np

from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.ranges import ranges
from lab.evidence.intervals import wilson
from lab.questions.forms import Picks
from lab.questions.question import Question, letter
from lab.rooms.counts import Counts

NAMES = {1: "Round 1", 2: "Round 2", 3: "Third question"}


def heads_chart(found: Counts, picks: Picks, revealed: bool) -> Heatmap:
    """Draw how often each head was picked in a round. If ``revealed``, the right head is outlined."""
    layers, heads = (tuple(str(each + 1) for each in range(count)) for count in (picks.layers, picks.heads))
    rows = Axis("Layer", layers, counts=True) if picks.layers > 1 else Axis("", ("Answers",))
    counts = np.array(found.options).reshape(picks.layers, picks.heads)
    right = divmod(found.answer, picks.heads) if revealed else (None, None)
    title = f"{NAMES[found.turn]}: {found.count} answers"
    axes = rows, Axis("Head", heads, counts=True)
    return heatmap(counts, axes, Scale("Answers", format=".0f"), title=title, highlight=right)


def round_chart(found: Counts, question: Question, revealed: bool) -> Figure:
    """Draw the share of each option, or of each bin of a number, in a round, with its 95 % interval (Wilson).

    ``question`` is the round's question. If ``revealed``, the right answer is marked. Raises ValueError if nobody
    answered.
    """
    names = [letter(place) for place in range(len(question.options))] if question.number is None else question.bins
    labels = [f"✓ {name}" if revealed and place == found.answer else name for place, name in enumerate(names)]
    low, high = zip(*(wilson(chosen, found.count) for chosen in found.options), strict=True)
    shares = [chosen / found.count for chosen in found.options]
    title = f"{NAMES[found.turn]}: {found.count} answers"
    return ranges(labels, {"Share, 95 %": shares}, (low, high), Scale("", (0.0, 1.0), ".2f"), title=title)
