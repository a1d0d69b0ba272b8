"""Lesson: Inter-sentence attention."""

from lab.lessons.open_lesson import play

play("inter-sentence-attention")
