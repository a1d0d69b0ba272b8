"""Lesson: Masked-language model."""

from lab.lessons.play import play

play("masked-language-model")
