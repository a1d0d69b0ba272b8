"""Lesson: Attention metrics."""

from lab.lessons.open_lesson import play

play("attention-metrics")
