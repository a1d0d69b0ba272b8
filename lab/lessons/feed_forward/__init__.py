"""Lesson 8: Feed-forward and LayerNorm. Each step is the file of its id; ``lesson.toml`` has their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import Parts

if TYPE_CHECKING:
    from lab.lessons.feed_forward.view import FeedForwardView

LESSON = "feed-forward"


def look(page: LessonPage, trace: Trace, step: str) -> FeedForwardView:
    """See :mod:`lab.lessons.feed_forward.view`, which needs this package complete."""
    from lab.lessons.feed_forward.view import look as look_at_layer

    return look_at_layer(page, trace, step)


PARTS: Parts[FeedForwardView] = Parts(look=look)
