"""Lesson: A task of your own."""

from lab.lessons.play import play

play("a-task-of-your-own")
