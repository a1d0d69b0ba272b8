"""Lesson: How it learns."""

from lab.lessons.play import play

play("how-it-learns")
