"""Lesson: Feed-forward and LayerNorm."""

from lab.lessons.open_lesson import play

play("feed-forward")
