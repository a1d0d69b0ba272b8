"""Lesson: Multi-head attention."""

from lab.lessons.open_lesson import play

play("multi-head-attention")
