"""Lesson: How it learns."""

from lab.lessons.open_lesson import play

play("how-it-learns")
