"""Lesson 3: Self-attention. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "self-attention"
