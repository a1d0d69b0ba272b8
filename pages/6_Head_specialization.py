"""Lesson: Head specialization."""

from lab.lessons.play import play

play("head-specialization")
