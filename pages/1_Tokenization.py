"""Lesson: Tokenization."""

from lab.lessons.open_lesson import play

play("tokenization")
