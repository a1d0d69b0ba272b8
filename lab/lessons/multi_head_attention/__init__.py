"""Lesson 4: Multi-head attention. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "multi-head-attention"
