"""Lesson 8: Feed-forward and LayerNorm. Each step is the file of its id; ``lesson.toml`` has their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import Parts

if TYPE_CHECKING:
    from lab.lessons.feed_forward.view import FeedForwardView

LESSON = "feed-forward"


def look(page: LessonPage, trace: Trace) -> Callable[[str], FeedForwardView]:
    """Return the function that makes the view of a step; its module needs this package complete."""
    from lab.lessons.feed_forward.view import look as look_at_layer

    return lambda step: look_at_layer(page, trace, step)


PARTS: Parts[FeedForwardView] = Parts(look=look)
