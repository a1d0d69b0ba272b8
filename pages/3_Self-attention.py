"""Lesson: Self-attention."""

from lab.lessons.open_lesson import play

play("self-attention")
