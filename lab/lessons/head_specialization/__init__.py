"""Lesson 6: Head specialization. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "head-specialization"
