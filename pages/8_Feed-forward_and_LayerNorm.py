"""Lesson: Feed-forward and LayerNorm."""

from lab.lessons.play import play

play("feed-forward")
