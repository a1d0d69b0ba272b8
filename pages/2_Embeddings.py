"""Lesson: Embeddings."""

from lab.lessons.play import play

play("embeddings")
