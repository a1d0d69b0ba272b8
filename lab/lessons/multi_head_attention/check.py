"""Check: questions about heads and their sum; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.multi_head_attention import LESSON
from lab.lessons.multi_head_attention.all_heads import why_several
from lab.lessons.multi_head_attention.join import together
from lab.lessons.multi_head_attention.one_head_off import first_moved
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead, show_sentence


def show(view: OneHead) -> None:
    """Ask the three questions."""
    show_sentence(view, arcs=False)
    draw_checks(LESSON, [each(view.spot) for each in (why_several, together, first_moved)], of=view.place)
