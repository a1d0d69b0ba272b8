"""The last screen of the embeddings lesson: questions graded on this text and this model."""

from __future__ import annotations

import numpy as np

from lab.analysis.embeddings import position_rows, worked_dimension
from lab.course import embedding_checks as ask
from lab.ui.embedding_steps import LESSON, View
from lab.ui.parameters import DEFAULTS
from lab.ui.quiz import checks

_POSITIONS = 16  # as many as a learner can look up on the similarity map


def show_checks(view: View) -> None:
    """Four questions, those that this text decides."""
    trace, token = view.trace, view.token
    # The largest number of the token's sum: two decimals of it say enough.
    dimension = int(np.abs(view.parts["sum"][token]).argmax())
    worked = worked_dimension(trace, token, dimension)
    table = trace.model.weights.embeddings.position
    rows = position_rows(trace, _POSITIONS)
    candidates = (
        ask.added_up(trace, token, dimension, worked),
        ask.normalized(trace, token, dimension, worked),
        ask.nearest_position(rows, min(token, len(rows) - 1)),
        ask.learned_numbers(trace.model.config, len(table), view.width, len(trace)),
        ask.longest_sum(trace, view.parts),
        ask.slowest_wave(DEFAULTS.pe_width, float(DEFAULTS.pe_base)),
    )
    checks(LESSON, candidates, most=4)
