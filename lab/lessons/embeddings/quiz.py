"""The last screen of the embeddings lesson: questions graded on this text and this model."""

from __future__ import annotations

import numpy as np

from lab.analysis.layers.embeddings import position_rows, worked_dimension
from lab.course.checks import Question
from lab.lessons.embeddings import checks as ask
from lab.lessons.embeddings.screens import LESSON, EmbeddingView
from lab.ui.parameters import PE_BASE, PE_WIDTH
from lab.ui.quiz import checks

_POSITIONS = 16  # as many as a learner can look up on the similarity map


def show_checks(view: EmbeddingView) -> None:
    """Four questions, those that this text decides."""
    trace, token = view.trace, view.token
    # The largest numbers of the token's sum: two decimals of them say enough. Two dimensions, because the second
    # question names the sum that the first one asks for.
    second, first = np.argsort(np.abs(view.parts["sum"][token]), kind="stable")[-2:].tolist()
    candidates = (
        ask.added_up(trace, token, first, worked_dimension(trace, token, first)),
        ask.normalized(trace, token, second, worked_dimension(trace, token, second)),
        *_of_table(view),
        ask.longest_sum(trace, view.parts),
        ask.slowest_wave(PE_WIDTH.default, float(PE_BASE.default)),
    )
    checks(LESSON, candidates, most=4)


def _of_table(view: EmbeddingView) -> tuple[Question | None, ...]:
    """Questions about the learned table of positions, where there is one."""
    table = view.trace.model.weights.embeddings.position
    if table is None:
        return ()
    rows = position_rows(view.trace, _POSITIONS)
    return (
        ask.nearest_position(rows, min(view.token, len(rows) - 1)),
        ask.learned_numbers(view.trace.model.config, len(table), view.width, len(view.trace)),
    )
