"""Lesson: Attention metrics."""

from lab.lessons.play import play

play("attention-metrics")
