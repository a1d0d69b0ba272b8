"""The last screen of the feed-forward lesson: questions on this text, this layer, this token."""

from __future__ import annotations

from lab.lessons.feed_forward import LESSON, blank_checks, checks
from lab.lessons.feed_forward.view import FeedForwardView
from lab.ui.quiz.asking import draw_checks


def show_checks(view: FeedForwardView) -> None:
    """Ask what would happen with another vector at one token, without the function, or without the sum."""
    candidates = (
        blank_checks.another_word(view.trace, view.layer.index, view.token),
        checks.without_function(view.config),
        checks.without_sum(view.name),
    )
    draw_checks(LESSON, candidates)
