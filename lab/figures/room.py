"""How a class answered: the share of each option in a round, with its interval."""

from __future__ import annotations

from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.ranges import ranges
from lab.course.checks import letter
from lab.experiments.intervals import wilson
from lab.rooms.counts import Counts

NAMES = {1: "Round 1", 2: "Round 2", 3: "Third question"}


def round_chart(found: Counts) -> Figure:
    """The share of each option among the answers of a round, with its 95 % interval (Wilson). The right one is marked.

    Raises ValueError where nobody answered.
    """
    labels = [f"{letter(place)} ✓" if place == found.answer else letter(place) for place in range(len(found.options))]
    low, high = zip(*(wilson(chosen, found.count) for chosen in found.options), strict=True)
    shares = [chosen / found.count for chosen in found.options]
    title = f"{NAMES[found.turn]}: {found.count} answers"
    return ranges(labels, {"Share, 95 %": shares}, (low, high), Scale("", (0.0, 1.0), ".2f"), title=title)
