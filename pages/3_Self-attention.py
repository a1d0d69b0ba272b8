"""Lesson: Self-attention."""

from lab.lessons.play import play

play("self-attention")
