"""Lesson 4: Multi-head attention. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "multi-head-attention"
