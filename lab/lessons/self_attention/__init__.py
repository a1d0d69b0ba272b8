"""Lesson 3: Self-attention. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "self-attention"
