"""Lesson 2: Embeddings. Each step is the file of its id; ``lesson.toml`` has their order and the fixed texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import Parts

if TYPE_CHECKING:
    from lab.lessons.embeddings.view import EmbeddingView

LESSON = "embeddings"


def look(page: LessonPage, trace: Trace, step: str) -> EmbeddingView:
    """Find the chosen tokens; see :mod:`lab.lessons.embeddings.view`, which needs this package complete."""
    from lab.lessons.embeddings.view import look as find_tokens

    return find_tokens(page, trace)


PARTS: Parts[EmbeddingView] = Parts(look=look)
