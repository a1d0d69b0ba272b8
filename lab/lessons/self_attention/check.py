"""Check: questions about this text, this layer, this head; each is in the file of the step that it is about."""

from __future__ import annotations

from functools import partial

from lab.figures.attention import attention_map
from lab.lessons.self_attention import LESSON
from lab.lessons.self_attention.build_a_row import one_score_up, value_gone, what_a_weight_says
from lab.lessons.self_attention.map import most_attended_overall
from lab.ui.parameters import TEACH
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead, show_sentence


def show(view: OneHead) -> None:
    """Ask the three questions; a class can also be asked to pick a word out of all."""
    show_sentence(view, arcs=False)
    to_pick = (most_attended_overall,) if view.page.selection[TEACH] else ()
    asked = (value_gone, *to_pick, one_score_up, what_a_weight_says)
    figures = {"most-attended-overall": partial(attention_map, view.trace, view.layer.index, view.head)}
    draw_checks(LESSON, [each(view.spot) for each in asked], of=view.place, figures=figures)
