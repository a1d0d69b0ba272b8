"""A class's answers: the share of each option in each round, or how often each head was picked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.votes import Votes, votes
from lab.course.words import number_of, unmarked
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
    title = f"{NAMES[found.turn]}: {number_of(found.count, 'answer')}"
    axes = rows, Axis("Head", heads, counts=True)
    return heatmap(counts, axes, Scale("Answers", format=".0f"), title=title, highlight=right)


def votes_of(found: Sequence[Counts], question: Question, revealed: bool) -> str:
    """The rounds of one question side by side, as HTML; the right option is marked if it is ``revealed``.

    ``question`` is the question of these rounds: options, or a number whose answers are counted in bins.
    """
    rounds = [Votes(NAMES[each.turn], each.options) for each in found]
    return votes(options_of(question), rounds, right=found[0].answer if revealed else None)


def options_of(question: Question) -> list[str]:
    """The options in plain text with their letters, or the bins of a number."""
    if question.number is not None:
        return list(question.bins)
    return [f"{letter(place)} · {unmarked(option.text)}" for place, option in enumerate(question.options)]
