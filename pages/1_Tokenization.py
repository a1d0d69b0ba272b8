"""Lesson: Tokenization."""

from lab.lessons.play import play

play("tokenization")
