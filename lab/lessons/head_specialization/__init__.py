"""Lesson 6: Head specialization. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "head-specialization"
