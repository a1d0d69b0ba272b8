"""Check: questions about vectors and places; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.learned_or_computed import no_row_left
from lab.lessons.embeddings.like_words import cosine_of_one
from lab.lessons.embeddings.position_lab import who_bit_whom
from lab.lessons.embeddings.view import EmbeddingView
from lab.ui.quiz.draw_check import draw_checks


def show(view: EmbeddingView) -> None:
    """Ask the three questions."""
    draw_checks(LESSON, [each() for each in (cosine_of_one, who_bit_whom, no_row_left)])
