"""Lesson 7: Inter-sentence attention. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "inter-sentence-attention"
