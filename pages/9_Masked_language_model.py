"""Lesson: Masked-language model."""

from lab.lessons.open_lesson import play

play("masked-language-model")
