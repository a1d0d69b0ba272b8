"""Check: questions about this text and this model; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.learned_or_computed import no_row_left
from lab.lessons.embeddings.like_words import cosine_of_one, nearest_word
from lab.lessons.embeddings.position_lab import who_bit_whom
from lab.lessons.embeddings.sum import what_changes
from lab.lessons.embeddings.view import EmbeddingView
from lab.ui.quiz.asking import draw_checks


def show(view: EmbeddingView) -> None:
    """Ask three of the questions that this text and this model decide."""
    asked = (nearest_word, who_bit_whom, no_row_left, what_changes, cosine_of_one)
    found = [each(view.spot) for each in asked]
    draw_checks(LESSON, [each for each in found if each is not None][:3])
