"""Lesson: Inter-sentence attention."""

from lab.lessons.play import play

play("inter-sentence-attention")
