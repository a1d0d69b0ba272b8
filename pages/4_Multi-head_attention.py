"""Lesson: Multi-head attention."""

from lab.lessons.play import play

play("multi-head-attention")
