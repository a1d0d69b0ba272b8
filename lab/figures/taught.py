"""A classifier that is taught by examples: how good it is with how many."""

from __future__ import annotations

from collections.abc import Mapping

from lab.analysis.tasks.teaching import LearningCurve
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.banded import banded_lines


def learning_curve(found: Mapping[str, LearningCurve]) -> Figure:
    """Draw the share of the other sentences that are right, over the number of examples; the first has its range."""
    first = next(iter(found.values()))
    lines = {name: each.mean for name, each in found.items()}
    x, scale = AxisPlaces("Examples", first.sizes), Scale("Share right", (0.2, 1.0), ".2f")
    title = "Right on the sentences that it has not learned from"
    return banded_lines(lines, (first.low, first.high), x, scale, title=title, level=0.5)
