"""Lesson: Head specialization."""

from lab.lessons.open_lesson import play

play("head-specialization")
