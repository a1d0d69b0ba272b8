"""Lesson: Embeddings."""

from lab.lessons.open_lesson import play

play("embeddings")
