"""Lesson 7: Inter-sentence attention. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "inter-sentence-attention"
