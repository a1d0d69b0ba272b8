"""Lesson: A task of your own."""

from lab.lessons.open_lesson import play

play("a-task-of-your-own")
