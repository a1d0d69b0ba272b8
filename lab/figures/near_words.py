"""Words whose vectors are like the vector of a given word, in the token table and after the last layer."""

from __future__ import annotations

from lab.analysis.words.neighbours import Neighbours, nearest_in_table
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.models.trace import Trace

NEAREST = 8
NAMED = 3  # the number of neighbours that a sentence names; the figure shows more


def in_table(traced: Trace, token: int) -> Neighbours:
    """The words whose rows of the token table are most like the row of ``token``."""
    return nearest_in_table(traced.model, traced.token_ids[token], NEAREST)


def near_in_table(traced: Trace, token: int) -> Figure:
    """Draw the bars of :func:`in_table`; the dashed line is the mean of all.

    Raises ValueError if no other word exists.
    """
    return _bars(in_table(traced, token), f"Words most similar to {traced.labels[token]}, in the token table")


def _bars(found: Neighbours, title: str) -> Figure:
    values = [each.cosine for each in found.nearest]
    scale = Scale("Cosine", (min(0.0, found.mean, *values), 1.0), ".2f")
    return bars([each.word for each in found.nearest], values, scale, title=title, reference=found.mean)
