"""Check: what the function, the list and the sum are for; each question is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.excited_by import what_a_list_shows
from lab.lessons.feed_forward.neurons import without_function
from lab.lessons.feed_forward.residual import without_sum
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.ui.quiz.asking import draw_checks


def show(view: FeedForwardView) -> None:
    """Ask the three questions."""
    show_sentence(view)
    draw_checks(LESSON, [each(view.spot) for each in (without_function, what_a_list_shows, without_sum)])
