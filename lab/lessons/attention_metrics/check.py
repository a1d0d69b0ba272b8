"""Check: questions about this text and this head; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.attention_metrics import LESSON
from lab.lessons.attention_metrics.effective import one_weight_more
from lab.lessons.attention_metrics.limits import why_divided
from lab.lessons.attention_metrics.numbers import maximum_is_one_row
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead, show_sentence


def show(view: OneHead) -> None:
    """Ask the three questions."""
    show_sentence(view, arcs=False)
    asked = (maximum_is_one_row, one_weight_more, why_divided)
    draw_checks(LESSON, [each(view.spot) for each in asked], of=view.place)
